"""Digits: digit sums, reversals and palindromes, other bases, counting by digits."""

from itertools import count
from math import comb, perm

from opencompass_gpassk.rv.question import either_sign, one_of, question, require, several, span


@question('digits', level='easy')
def last_digit_sum_standing(low=span(100, 450), high=span(550, 999), end=span(1, 9)):
    """Take a positive integer and replace it by the sum of its decimal digits, again and again,
    until a single digit is left. For how many integers from $<low>$ to $<high>$, both included, is
    this last digit $<end>$?

    取一个正整数，把它换成它的各位数字之和，如此反复，直到只剩一位数字为止。
    从 $<low>$ 到 $<high>$（含两端）的整数中，有多少个最后得到的数字是 $<end>$？
    """
    # A digit sum leaves the same remainder on division by 9 as the number.
    return (high - end) // 9 - (low - 1 - end) // 9


@question('digits', level='easy')
def numeral_turned_over(number=span(100, 999), base=span(3, 9)):
    """The number $<number>$ is written in base $<base>$, without leading zeros. Then each digit $d$
    of this numeral is replaced by $<base - 1> - d$. The result (which may begin with zeros) is read
    as a base-$<base>$ numeral. What is its value? Answer in base ten.

    把数 $<number>$ 写成 $<base>$ 进制（首位不为零），
    再把其中每一位数字 $d$ 都换成 $<base - 1> - d$（换后首位可以是零）。
    把所得结果看作 $<base>$ 进制数，它等于多少？答案用十进制表示。
    """
    # The two numerals add up to one whose digits are all base - 1.
    full = next(base**length for length in count(1) if base**length > number)
    require(full - 1 - number >= 10)
    return full - 1 - number


@question('digits', level='easy')
def six_cards_two_numbers(cards=several(6, one_of(*'123456789'))):
    """Six cards show the digits of the number $<''.join(cards)>$, one digit each; no card may be
    turned upside down. All six are laid out to form two three-digit numbers. What is the smallest
    possible sum of the two numbers?

    六张卡片上分别写着数 $<''.join(cards)>$ 的六个数字，每张一个，卡片不能倒置。
    用这六张卡片摆出两个三位数，这两个三位数的和最小是多少？
    """
    # The smallest digits are for the hundreds, the next ones for the tens.
    a, b, c, d, e, f = sorted(map(int, cards))
    return 100 * (a + b) + 10 * (c + d) + e + f


@question('digits', level='easy')
def odd_digit_sums(first=span(100, 999), last=span(1000, 1999)):
    """How many of the integers from $<first>$ to $<last>$, both included, have decimal digits whose
    sum is odd?

    从 $<first>$ 到 $<last>$（含两端）的整数中，有多少个的各位数字之和是奇数？
    """

    def below(end):
        # Of ten numbers that differ in the last digit alone, five have an odd digit sum.
        rest = range(end - end % 10, end)
        return 5 * (end // 10) + sum(sum(map(int, str(n))) % 2 for n in rest)

    return below(last + 1) - below(first)


@question('digits', level='easy')
def odometer_palindrome(reading=span(10000, 99800)):
    """A car's odometer shows $<reading>$ kilometres. After how many more kilometres will it next
    show a number that reads the same forwards and backwards?

    一辆汽车的里程表显示 $<reading>$ 千米。再行驶多少千米，
    里程表下一次显示一个顺读和倒读都相同的数？
    """

    def mirrored(half):
        return 100 * half + int(str(half)[1::-1])

    half = reading // 100
    after = mirrored(half) if mirrored(half) > reading else mirrored(half + 1)
    return after - reading


@question('digits', level='medium')
def endless_tape(place=span(1000, 9999)):
    r"""The positive integers are printed on a tape one after another without gaps:
    $123456789101112\ldots$. What is the digit in position $<place>$ of the tape (the first digit is
    in position $1$), and to which of the printed integers does it belong? Answer with an ordered
    pair (integer, digit).

    把正整数依次不留空隙地印在一条纸带上：$123456789101112\ldots$。
    纸带上第 $<place>$ 位（最左边是第 $1$ 位）上的数字是几？这个数字属于印出的哪个整数？
    答案写成有序数对（整数，数字）。
    """
    rest, length = place - 1, 1
    while rest >= 9 * 10 ** (length - 1) * length:  # the places of all numbers of this length
        rest -= 9 * 10 ** (length - 1) * length
        length += 1
    number = 10 ** (length - 1) + rest // length
    return number, int(str(number)[rest % length])


@question('digits', level='medium')
def smallest_for_product(twos=span(2, 7), threes=span(1, 4), fives=span(0, 2), sevens=span(0, 1)):
    """Find the smallest positive integer for which the product of its decimal digits is
    $<2**twos * 3**threes * 5**fives * 7**sevens>$.

    求各位数字之积等于 $<2**twos * 3**threes * 5**fives * 7**sevens>$ 的最小正整数。
    """
    rest = 2**twos * 3**threes * 5**fives * 7**sevens
    require(300 <= rest <= 40000)
    digits = ''
    for digit in range(9, 1, -1):  # few digits, so large ones
        while rest % digit == 0:
            digits, rest = f'{digit}{digits}', rest // digit
    return int(digits)


@question('digits', level='medium')
def negative_base(number=either_sign(100, 999), base=span(3, 8)):
    """In base $-<base>$ the digits are $0$ to $<base - 1>$ and the places are worth, from the
    right, $1$, $-<base>$, $<base**2>$, $-<base**3>$ and so on, the powers of $-<base>$. Every
    integer has exactly one such numeral without leading zeros. Write $<number>$ in base $-<base>$,
    digits only.

    在 $-<base>$ 进制中，数字为 $0$ 到 $<base - 1>$，从右往左各位的位值依次是 $1$、$-<base>$、
    $<base**2>$、$-<base**3>$ 等等，即 $-<base>$ 的各次幂。每个整数都恰有一种首位不为零的写法。
    把 $<number>$ 写成 $-<base>$ 进制，只写数字。
    """
    digits, rest = '', number
    while rest:
        digit = rest % base
        digits, rest = f'{digit}{digits}', (rest - digit) // -base
    return int(digits)


@question('digits', level='medium')
def digit_sum_in_base(base=span(5, 9), total=span(7, 28)):
    """How many positive integers, when written in base $<base>$ without leading zeros, have exactly
    four digits and a digit sum of $<total>$ (in base ten)? Answer in base ten.

    有多少个正整数写成 $<base>$ 进制时恰有四位数字（首位不为零），
    且这四位数字之和为 $<total>$（十进制）？答案用十进制表示。
    """
    # Stars and bars for total - 1 over four places, less those with a place above its limit: the
    # first digit, less one, has base - 1 values, each of the others has base.
    answer = sum(
        (-1) ** (first + others) * comb(3, others) * comb(rest + 3, 3)
        for first in (0, 1)
        for others in range(4)
        if (rest := total - 1 - first * (base - 1) - others * base) >= 0
    )
    require(answer >= 20)
    return answer


@question('digits', level='medium')
def stairs_below(limit=span(111100, 999999)):
    """What is the largest integer below $<limit>$ whose decimal digits, read from left to right,
    never get smaller?

    小于 $<limit>$ 且从左到右各位数字都不减小的最大整数是多少？
    """
    d = [int(digit) for digit in str(limit)]
    require(d[:4] == sorted(d[:4]) and len(set(d[:4])) < 4 and d != sorted(d))
    # At a descent the digit before it is lowered, and nines follow; so on, back to where it rose.
    for i in range(5, 0, -1):
        if d[i - 1] > d[i]:
            d[i - 1 :] = [d[i - 1] - 1] + [9] * (6 - i)
    return int(''.join(map(str, d)))


@question('digits', level='hard')
def digit_in_all_places(
    first=span(10000, 90000), last=span('first + 2500', 'first + 8500'), digit=span(1, 9)
):
    """All integers from $<first>$ to $<last>$, both included, are written down in decimal. How many
    times is the digit $<digit>$ written?

    用十进制写出从 $<first>$ 到 $<last>$（含两端）的所有整数，数字 $<digit>$ 一共出现多少次？
    """

    def below(end):
        written = 0
        for place in (1, 10, 100, 1000, 10000):
            # Of 10 * place numbers in a row, as many as `place` have the digit in this place.
            blocks, rest = divmod(end, 10 * place)
            written += blocks * place + min(max(rest - digit * place, 0), place)
        return written

    return below(last + 1) - below(first)


@question('digits', level='hard')
def no_digit_twice(limit=span(20000, 89999)):
    """How many integers from $1$ to $<limit>$, both included, contain no decimal digit more than
    once?

    从 $1$ 到 $<limit>$（含两端）的整数中，有多少个的各位数字互不相同？
    """
    answer = 9 + 9 * 9 + 9 * 9 * 8 + 9 * 9 * 8 * 7  # those with one to four digits
    used: list[int] = []
    # Then those that fall below the limit first in this place.
    for place, digit in enumerate(map(int, str(limit))):
        smaller = [d for d in range(place == 0, digit) if d not in used]
        answer += len(smaller) * perm(9 - place, 4 - place)
        if digit in used:
            return answer
        used.append(digit)
    return answer + 1
