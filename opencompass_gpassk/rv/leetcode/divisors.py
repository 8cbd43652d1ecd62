"""Divisors: common divisors, primes, perfect and ugly numbers, factorials, modular powers."""

from math import comb, gcd, isqrt, lcm, prod

from opencompass_gpassk.rv.question import (
    distinct,
    one_of,
    question,
    require,
    rising,
    several,
    span,
)


def divisors(number):
    """Return all positive divisors, the smallest first."""
    return [d for d in range(1, number + 1) if number % d == 0]


@question('divisors', level='easy')
def sum_of_common_divisors(
    shared=one_of(12, 18, 20, 24, 28, 30, 36, 40, 42, 45, 48, 60, 64, 72),
    one=span(3, 15),
    other=span(3, 15),
):
    """Find the sum of all positive integers that divide both $<shared * one>$ and
    $<shared * other>$ without remainder.

    求既能整除 $<shared * one>$ 又能整除 $<shared * other>$ 的所有正整数之和。
    """
    require(max(one, other) % min(one, other))
    return sum(divisors(gcd(shared * one, shared * other)))


@question('divisors', level='easy')
def three_divisors_exactly(low=span(100, 999), high=span('low + 500', 'low + 1500')):
    """Find the sum of all integers from $<low>$ to $<high>$, both included, that have exactly three
    positive divisors.

    求从 $<low>$ 到 $<high>$（含两端）的整数中，恰有三个正因数的所有整数之和。
    """
    # They are the squares of the primes.
    roots = range(isqrt(low - 1) + 1, isqrt(high) + 1)
    answer = sum(p * p for p in roots if len(divisors(p)) == 2)
    require(answer >= 700)
    return answer


@question('divisors', level='easy')
def more_than_perfect(number=span(108, 996, step=12)):
    """All positive divisors of $<number>$ that are smaller than $<number>$ are added up. By how
    much does their sum exceed $<number>$?

    把 $<number>$ 的所有小于 $<number>$ 的正因数相加，所得的和比 $<number>$ 大多少？
    """
    return sum(divisors(number)) - 2 * number


@question('divisors', level='easy')
def from_the_largest_divisor(
    factor=one_of(12, 20, 30, 36, 60), cofactor=span(30, 150), rank=span(4, 9)
):
    """The positive divisors of $<factor * cofactor>$ are listed from the largest,
    $<factor * cofactor>$ itself, down to $1$. Which number is in position $<rank>$ of this list?

    把 $<factor * cofactor>$ 的正因数从大到小排列，从 $<factor * cofactor>$ 本身一直排到 $1$。
    排在第 $<rank>$ 个的是多少？
    """
    answer = divisors(factor * cofactor)[-rank]
    require(answer**2 > factor * cofactor)
    return answer


@question('divisors', level='medium')
def factorial_tail(n=span(40, 300), base=one_of(12, 15, 18, 20, 24, 28, 36, 45, 48, 63, 72)):
    """With how many zeros does $<n>!$ end when it is written in base $<base>$? Answer in base ten.

    把 $<n>!$ 写成 $<base>$ 进制，末尾有多少个零？答案用十进制表示。
    """
    import sympy

    # p occurs in n! as often as n/p + n/p^2 + … rounded down; the scarcest prime decides.
    return min(
        sum(n // p**i for i in range(1, 10)) // exponent
        for p, exponent in sympy.factorint(base).items()
    )


@question('divisors', level='medium')
def three_primes_only(second=one_of(3, 5, 7), third=one_of(11, 13), rank=span(18, 32)):
    """The positive integers without prime factors other than <listed((2, second, third))> are
    listed in increasing order; the first is $1$, the second $2$. Which number is in position
    $<rank>$ of this list?

    把除 <listed((2, second, third))> 外没有其他质因数的正整数从小到大排列，第一个是 $1$，
    第二个是 $2$。排在第 $<rank>$ 个的数是多少？
    """
    found = [1]
    while len(found) < rank:
        # Each further number is an earlier one times one of the three primes.
        found.append(min(p * n for p in (2, second, third) for n in found if p * n > found[-1]))
    return found[-1]


@question('divisors', level='medium')
def divisible_by_just_one(a=span(4, 12), b=span(6, 15), rank=span(100, 400)):
    """The positive integers that are divisible by $<a>$ or by $<b>$, but not by both, are listed in
    increasing order. Which number is in position $<rank>$ of this list?

    把能被 $<a>$ 或 $<b>$ 整除、但不能同时被两者整除的正整数从小到大排列。
    排在第 $<rank>$ 个的是多少？
    """
    require(a < b and b % a)
    period = lcm(a, b)
    first = [n for n in range(1, period) if (n % a == 0) != (n % b == 0)]
    rounds, rest = divmod(rank - 1, len(first))
    return rounds * period + first[rest]


@question('divisors', level='medium')
def tower_remainder(
    modulus=one_of(11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61),
    a=span(2, 9),
    b=span(2, 9),
    c=span(11, 99),
):
    """What is the remainder when $<a>^{(<b>^{<c>})}$ is divided by $<modulus>$?

    $<a>^{(<b>^{<c>})}$ 除以 $<modulus>$ 的余数是多少？
    """
    # By Fermat a^(m-1) leaves 1 for a prime m, so the exponent counts modulo m - 1.
    answer = pow(a, pow(b, c, modulus - 1), modulus)
    require(answer > 1)
    return answer


@question('divisors', level='medium')
def one_digit_written_often(
    digit=span(2, 9),
    length=span(100, 999),
    divisor=one_of(73, 77, 91, 101, 117, 123, 137, 143, 189, 239, 259, 271, 303),
):
    """A positive integer is written in decimal with $<length>$ digits, all of which are $<digit>$.
    What is its remainder when it is divided by $<divisor>$?

    一个正整数用十进制写出来共有 $<length>$ 位，每一位数字都是 $<digit>$。
    它除以 $<divisor>$ 的余数是多少？
    """
    # With these divisors the remainders of 7, 77, 777, … soon come again.
    answer = int(str(digit) * length) % divisor
    require(answer)
    return answer


@question('divisors', level='hard')
def four_factors_above_one(
    primes=several(2, distinct(of=[3, 5, 7, 11, 13])),
    twos=span(1, 8),
    powers=several(2, span(0, 4)),
):
    """How many ordered quadruples $(a, b, c, d)$ of integers greater than $1$ satisfy
    $abcd = <2**twos * primes[0]**powers[0] * primes[1]**powers[1]>$?

    由大于 $1$ 的整数组成的有序四元组 $(a, b, c, d)$ 中，
    有多少个满足 $abcd = <2**twos * primes[0]**powers[0] * primes[1]**powers[1]>$？
    """
    require(2**twos * primes[0] ** powers[0] * primes[1] ** powers[1] <= 10000)

    def into(places):
        # Spread each prime's exponent over the factors, some of which may be 1.
        return prod(comb(power + places - 1, power) for power in (twos, *powers))

    answer = into(4) - 4 * into(3) + 6 * into(2) - 4
    require(30 <= answer <= 1500)
    return answer


@question('divisors', level='hard')
def all_their_gcds(
    numbers=several(
        6, rising(of=[6 * n for n in (4, 6, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21, 24, 27, 28, 30)])
    ),
):
    """At least one of the numbers <listed(numbers)> is chosen, and the greatest common divisor of
    the chosen numbers is taken (the greatest common divisor of a single number is the number
    itself). Find the sum of all distinct values that can be obtained.

    从 <listed(numbers)> 中至少选出一个数，求所选各数的最大公因数（只选一个数时，就是这个数本身）。
    求所有可能得到的不同数值之和。
    """
    # g is the gcd of some of the numbers if it is the gcd of all those that it divides.
    multiples = {g: [n for n in numbers if n % g == 0] for g in range(1, numbers[-1] + 1)}
    answer = sum(g for g, some in multiples.items() if g == gcd(*some))
    require(answer - sum(numbers) >= 60)  # hidden gcds besides the numbers
    return answer


@question('divisors', level='hard')
def runs_of_summands(factor=one_of(45, 63, 75, 90, 105, 135, 165, 210, 315), cofactor=span(2, 20)):
    """In how many ways can $<factor * cofactor>$ be written as a sum of two or more consecutive
    positive integers in increasing order,
    and how many summands does the longest of these sums have? Answer with an ordered pair (number
    of ways, number of summands).

    把 $<factor * cofactor>$ 表示成两个或更多个连续正整数之和，有多少种方法？
    其中项数最多的和有多少项？答案写成有序数对（方法数，项数）。
    """
    # k numbers from a on have the sum n if 2n = k(2a + k - 1): factors of different parity.
    n = factor * cofactor
    require(200 <= n <= 2500)
    lengths = [k for k in divisors(2 * n) if 1 < k < 2 * n // k and (2 * n // k - k) % 2]
    return len(lengths), lengths[-1]
