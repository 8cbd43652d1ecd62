"""Sequences: terms far out, merged rows, sequences that describe themselves."""

from math import isqrt

from opencompass_gpassk.rv.question import question, require, span


@question('sequences', level='easy')
def badges_without_multiples(left_out=span(3, 9), place=span(100, 700)):
    """The badges of a congress bear the positive integers in increasing order, except that all
    multiples of $<left_out>$ are left out. Which number is on the badge in position $<place>$?

    一次大会的胸牌按从小到大的顺序用正整数编号，但 $<left_out>$ 的倍数都跳过不用。
    第 $<place>$ 块胸牌上的号码是多少？
    """
    # Of every d numbers one is left out, so d - 1 badges reach d numbers further.
    return place + (place - 1) // (left_out - 1)


@question('sequences', level='easy')
def numbers_in_blocks(start=span(2, 9), terms=span(30, 90)):
    """A sequence starts with $<start>$ terms equal to $<start>$, which are followed by
    $<start + 1>$ terms equal to $<start + 1>$, then $<start + 2>$ terms equal to $<start + 2>$, and
    so on. What is the sum of its first $<terms>$ terms?

    一个数列的前 $<start>$ 项都等于 $<start>$，接着的 $<start + 1>$ 项都等于 $<start + 1>$，
    再接着的 $<start + 2>$ 项都等于 $<start + 2>$，依此类推。求它的前 $<terms>$ 项之和。
    """
    number, left, total = start, terms, 0
    while left > number:
        total, left, number = total + number**2, left - number, number + 1
    return total + left * number


@question('sequences', level='easy')
def lost_second_term(first=span(10, 40), second=span(10, 60)):
    """From the third term on, each term of a sequence is the sum of the two terms before it. The
    first term is $<first>$ and the seventh term is $<5*first + 8*second>$. What is the tenth term?

    一个数列从第三项起，每一项都等于它前面两项之和。它的第一项是 $<first>$，
    第七项是 $<5*first + 8*second>$。第十项是多少？
    """
    return 21 * first + 34 * second


@question('sequences', level='easy')
def term_less_the_one_before(first=span(10, 60), second=span(10, 60), terms=span(1000, 4000)):
    r"""A sequence has $a_1 = <first>$, $a_2 = <second>$ and $a_{n+2} = a_{n+1} - a_n$ for all
    $n \ge 1$. What is $a_1 + a_2 + \dots + a_{<terms>}$?

    数列满足 $a_1 = <first>$，$a_2 = <second>$，$a_{n+2} = a_{n+1} - a_n$（$n \ge 1$）。
    求 $a_1 + a_2 + \dots + a_{<terms>}$。
    """
    require(first < second and terms % 6)
    # The terms p, q, q - p, -p, -q, p - q come again and again, and their sum is 0.
    return sum([first, second, second - first, -first, -second][: terms % 6])


@question('sequences', level='medium')
def squares_among_cubes(above=span(1000, 4000), place=span(30, 60)):
    """All integers greater than $<above>$ that are the square or the cube of an integer are listed
    in increasing order, each of them once. Which number is in position $<place>$ of this list?

    把大于 $<above>$ 且是整数的平方或立方的所有整数从小到大排成一行，每个数只写一次。
    第 $<place>$ 个数是多少？
    """
    # Sixth powers are squares and cubes at once, but stand in the row once.
    roots = range(1, isqrt(above) + place + 1)
    powers = {root**exponent for root in roots for exponent in (2, 3)}
    return sorted(power for power in powers if power > above)[place - 1]


@question('sequences', level='medium')
def runs_that_count_themselves(one=span(1, 4), other=span(1, 4), terms=span(24, 36)):
    """An infinite sequence, all of whose terms are $<one>$ or $<other>$, starts with $<one>$. Cut
    it into runs of equal terms, each run as long as possible: the first run has as many terms as
    the first term says, the second run as the second term says, and so on for ever. What is the sum
    of the first $<terms>$ terms?

    一个无穷数列的各项都是 $<one>$ 或 $<other>$，第一项是 $<one>$。把连续相等的项归为一段，
    每段尽可能长：第一段的项数等于第一项，第二段的项数等于第二项，依此类推，无限继续下去。
    求它的前 $<terms>$ 项之和。
    """
    require(one != other)
    # Each term, as soon as it is known, tells the length of a run further on.
    known: list[int] = []
    for run in range(terms):
        value = other if run % 2 else one
        known += [value] * (known[run] if run < len(known) else value)
    return sum(known[:terms])


@question('sequences', level='medium')
def square_treadmill(
    start=span(3, 9), shift=span(3, 9), modulus=span(30, 90), place=span(1000, 4000)
):
    """A sequence starts with $x_1 = <start>$, and $x_{n+1}$ is always the remainder of
    $x_n^2 + <shift>$ on division by $<modulus>$. What is $x_{<place>}$?

    数列的首项为 $x_1 = <start>$，而 $x_{n+1}$ 总是 $x_n^2 + <shift>$ 除以 $<modulus>$ 的余数。
    求 $x_{<place>}$。
    """
    # A remainder seen before brings all that followed it again.
    terms = [start]
    while (following := (terms[-1] ** 2 + shift) % modulus) not in terms:
        terms.append(following)
    back = terms.index(following)
    require(len(terms) <= 12 and len(terms) - back >= 3)
    return terms[back + (place - 1 - back) % (len(terms) - back)]


@question('sequences', level='medium')
def odd_parts_added_up(start=span(20, 90), end=span(150, 400)):
    r"""For a positive integer $n$ let $u(n)$ be the greatest odd divisor of $n$; so $u(7) = 7$ and
    $u(12) = 3$. What is the sum of $u(n)$ over all integers $n$ with $<start> \le n \le <end>$?

    对正整数 $n$，记 $u(n)$ 为 $n$ 的最大奇因数，例如 $u(7) = 7$，$u(12) = 3$。
    求所有满足 $<start> \le n \le <end>$ 的整数 $n$ 所对应的 $u(n)$ 之和。
    """

    def up_to(n):
        # Odd numbers are their own odd parts; the even ones have those of 1 to n / 2.
        return ((n + 1) // 2) ** 2 + up_to(n // 2) if n else 0

    return up_to(end) - up_to(start - 1)


@question('sequences', level='medium')
def halving_down_the_index(start=span(2, 9), step=span(2, 9), index=span(100, 250)):
    r"""A function $f$ on the positive integers satisfies $f(1) = <start>$ and, for all $n \ge 1$,
    $f(2n) = f(n) + <step>$ and $f(2n+1) = f(n) + f(n+1)$. What is $f(<index>)$?

    定义在正整数集上的函数 $f$ 满足 $f(1) = <start>$，
    且对所有 $n \ge 1$ 都有 $f(2n) = f(n) + <step>$，$f(2n+1) = f(n) + f(n+1)$。求 $f(<index>)$。
    """
    # The binary digits of n lead from f(1), f(2) to f(n), f(n + 1), pair by pair.
    here, after = start, start + step
    for bit in f'{index:b}'[1:]:
        both = here + after
        here, after = (both, after + step) if bit == '1' else (here + step, both)
    return here


@question('sequences', level='medium')
def roots_rounded_down(start=span(20, 90), end=span(150, 400)):
    r"""Let $\lfloor x \rfloor$ be the greatest integer that is not greater than $x$. What is the
    sum of $\lfloor \sqrt{n} \rfloor$ over all integers $n$ with $<start> \le n \le <end>$?

    记 $\lfloor x \rfloor$ 为不大于 $x$ 的最大整数。
    求所有满足 $<start> \le n \le <end>$ 的整数 $n$ 所对应的 $\lfloor \sqrt{n} \rfloor$ 之和。
    """

    def up_to(n):
        # The sum is r(n + 1) - (1 + 4 + … + r^2), r the last root.
        r = isqrt(n)
        return r * (n + 1) - r * (r + 1) * (2 * r + 1) // 6

    return up_to(end) - up_to(start - 1)


@question('sequences', level='hard')
def numbers_as_in_a_dictionary(last=span(300, 999), place=span(100, 900)):
    """The integers from $1$ to $<last>$ are sorted as words are in a dictionary, with digits for
    letters: $9$ comes after $12$, and $12$ comes before $125$. So the list begins with $1, 10, 100,
    101$. Which number is in position $<place>$ of this list?

    把从 $1$ 到 $<last>$ 的整数像词典中的单词那样排序，数字当作字母：$9$ 排在 $12$ 之后，
    $12$ 排在 $125$ 之前。于是开头几个数是 $1, 10, 100, 101$。排在第 $<place>$ 个的数是多少？
    """
    require(place + 20 < last)
    here, left = 1, place - 1
    # Skip all numbers that begin with the same digits as long as the place lies beyond them.
    while left:
        spans = [(here * 10**i, (here + 1) * 10**i - 1) for i in range(3)]
        begin_so = sum(max(0, min(high, last) - low + 1) for low, high in spans)
        here, left = (here + 1, left - begin_so) if begin_so <= left else (10 * here, left - 1)
    require(here > 9)
    return here


@question('sequences', level='hard')
def no_three_evenly_spaced(start=span(10, 40), place=span(28, 64)):
    """The first term of a sequence is $<start>$. Each further term is the smallest integer that is
    greater than all terms before it and for which no three different terms chosen so far, the new
    one included, form an arithmetic progression (whether they follow one another or not). What is
    term number $<place>$?

    一个数列的第一项是 $<start>$。此后每一项都是满足以下条件的最小整数：它大于前面所有的项，
    并且把它添入后，数列中任意三项（不论是否相邻）都不成等差数列。
    第 $<place>$ 项是多少？
    """
    # From 0 on, the terms are the numbers without the digit 2 in base 3.
    return start + int(f'{place - 1:b}', base=3)
