"""Number theory: divisors, remainders, digits in other bases."""

import math

from opencompass_gpassk.rv.question import one_of, question, require, rising, several, span


@question('number theory', level=1)
def remainder_carried(
    divisor=span(12, 99), rest=span(2, 'divisor - 1'), factor=span(2, 9), plus=span(2, 30)
):
    """When the positive integer $N$ is divided by $<divisor>$, the remainder is $<rest>$. What is
    the remainder when $<factor>N + <plus>$ is divided by $<divisor>$?

    正整数 $N$ 除以 $<divisor>$ 的余数是 $<rest>$。
    求 $<factor>N + <plus>$ 除以 $<divisor>$ 的余数。
    """
    # A number may be replaced by its remainder in sums and products.
    return (factor * rest + plus) % divisor


@question('number theory', level=2)
def lamps_in_step(first=span(10, 30), second=span(10, 30), minutes=span(10, 30)):
    """A red lamp flashes every $<first>$ seconds and a blue one every $<second>$ seconds. They have
    just flashed together. How many more times will they flash together within the next $<minutes>$
    minutes, the last moment included?

    一盏红灯每 $<first>$ 秒闪一次，一盏蓝灯每 $<second>$ 秒闪一次。它们刚刚同时闪了一次。
    在接下来的 $<minutes>$ 分钟内（包括最后一刻），它们还会同时闪多少次？
    """
    require(first < second and 1 < math.gcd(first, second) < first)
    return 60 * minutes // math.lcm(first, second)


@question('number theory', level=2)
def sum_in_other_base(
    base=span(5, 9),
    a=span(1, 'base - 1'),
    b=span(1, 'base - 1'),
    c=span(1, 'base - 1'),
    d=span(1, 'base - 1'),
    e=span(1, 'base - 1'),
    f=span(1, 'base - 1'),
):
    """Compute $<a><b><c>_{<base>} + <d><e><f>_{<base>}$, where the subscript of a number is the
    base in which it is written. Give the digits of the sum in base $<base>$, without a subscript.

    计算 $<a><b><c>_{<base>} + <d><e><f>_{<base>}$，其中数的下标表示它所用的进位制。
    用 $<base>$ 进制写出和的各位数字，不写下标。
    """
    rest, digits = (a + d) * base**2 + (b + e) * base + (c + f), ''
    while rest:
        digits = str(rest % base) + digits
        rest //= base
    return int(digits)


@question('number theory', level=3)
def marchers_in_rows(
    rows=several(3, rising(of=(5, 7, 8, 9, 11))),
    a=span(2, 'rows[0] - 1'),
    b=span(2, 'rows[1] - 1'),
    c=span(2, 'rows[2] - 1'),
):
    """When the musicians of a band line up in rows of $<rows[0]>$, $<a>$ of them are left over. In
    rows of $<rows[1]>$ there are $<b>$ left over, and in rows of $<rows[2]>$ there are $<c>$. What
    is the smallest possible number of musicians?

    一支乐队的乐手排队，每排 $<rows[0]>$ 人时剩下 $<a>$ 人，每排 $<rows[1]>$ 人时剩下 $<b>$ 人，
    每排 $<rows[2]>$ 人时剩下 $<c>$ 人。乐手最少有多少人？
    """
    from sympy.ntheory.modular import crt

    # Three remainders by coprime divisors fix a number up to the product of the divisors.
    musicians = int(crt(rows, (a, b, c))[0])
    require(musicians > 60)
    return musicians


@question('number theory', level=3)
def divisors_among_multiples(
    factor=one_of(10, 12, 14, 15, 18, 20, 21),
    twos=span(1, 6),
    threes=span(1, 3),
    others=one_of(5, 7, 25, 35, 49),
):
    """How many of the positive divisors of $<factor * 2**twos * 3**threes * others>$ are multiples
    of $<factor>$?

    在 $<factor * 2**twos * 3**threes * others>$ 的正因数中，有多少个是 $<factor>$ 的倍数？
    """
    from sympy import divisor_count

    # They are the factor times the divisors of the rest.
    return int(divisor_count(2**twos * 3**threes * others))


@question('number theory', level=3)
def closest_with_same_lcm(
    common=span(4, 30),
    product=one_of(30, 42, 60, 66, 70, 78, 84, 90, 105, 110, 120, 126, 132, 140, 150, 156, 165),
):
    """The greatest common divisor of two positive integers is $<common>$, and their least common
    multiple is $<common * product>$. What is the smallest possible value of their sum?

    两个正整数的最大公因数是 $<common>$，最小公倍数是 $<common * product>$。
    它们的和最小是多少？
    """
    # Divided by their greatest common divisor, the two are coprime factors of this product.
    factors = [(d, product // d) for d in range(1, product + 1) if product % d == 0]
    return common * min(d + e for d, e in factors if math.gcd(d, e) == 1)


@question('number theory', level=4)
def divides_square_plus(a=span(4, 12), b=span(30, 200)):
    """Find the sum of all positive integers $n$ for which $n + <a>$ is a divisor of $n^2 + <b>$.

    求所有使 $n + <a>$ 整除 $n^2 + <b>$ 的正整数 $n$ 的和。
    """
    # Since n + a divides n^2 - a^2, it divides n^2 + b exactly if it divides a^2 + b.
    divisors = [d for d in range(a + 1, a**2 + b + 1) if (a**2 + b) % d == 0]
    require(3 <= len(divisors) <= 10)
    return sum(d - a for d in divisors)


@question('number theory', level=4)
def sum_of_decimals(
    below=one_of(7, 13, 17, 37, 41, 73), above=span(2, 'below - 1'), places=span(50, 200)
):
    r"""The fraction $\frac{<above>}{<below>}$ is written as a decimal. What is the sum of the first
    $<places>$ digits after the decimal point?

    把分数 $\frac{<above>}{<below>}$ 写成小数，小数点后前 $<places>$ 位数字的和是多少？
    """
    # Shifted by so many places, they are the whole part; zeros in front add nothing.
    return sum(int(digit) for digit in str(10**places * above // below))


@question('number theory', level=4)
def coprime_sum(
    number=one_of(30, 36, 42, 45, 60, 63, 66, 70, 75, 78, 84, 90, 105), periods=span(6, 18)
):
    """Find the sum of all positive integers less than $<number * periods>$ that have no common
    divisor greater than $1$ with $<number>$.

    求小于 $<number * periods>$ 且与 $<number>$ 没有大于 $1$ 的公因数的所有正整数的和。
    """
    from sympy import totient

    # If m is such a number, so is the limit less m: they pair up to the limit.
    return periods * int(totient(number)) * number * periods // 2


@question('number theory', level=5)
def power_minus_square(prime=one_of(7, 11, 13, 17), periods=span(3, 9), base=span(2, 9)):
    r"""For how many integers $n$ with $1 \le n \le <periods * prime * (prime - 1)>$ is
    $<base>^n - n^2$ divisible by $<prime>$?

    满足 $1 \le n \le <periods * prime * (prime - 1)>$ 且使 $<base>^n - n^2$ 能被 $<prime>$ 整除的
    整数 $n$ 有多少个？
    """
    require(base % prime > 1)
    # If the base is no square modulo the prime, only even exponents make its power one.
    is_square = pow(base, (prime - 1) // 2, prime) == 1
    exponents = (prime - 1) // (1 if is_square else 2)
    # Each power that is a square has two roots n, independent of the exponent n modulo prime - 1.
    return periods * exponents * 2


@question('number theory', level=5)
def squares_from_quadratic(b=span(7, 21, step=2), c=span(50, 250)):
    """There are only a few positive integers $n$ that make $n^2 + <b>n + <c>$ the square of an
    integer. What do they add up to?

    只有少数几个正整数 $n$ 使 $n^2 + <b>n + <c>$ 是完全平方数。这些 $n$ 的和是多少？
    """
    # n^2 + bn + c = m^2 means (2m - 2n - b)(2m + 2n + b) = 4c - b^2. As b is odd, this is 3 modulo
    # 4, and so every pair of factors gives an integer n.
    product = 4 * c - b**2
    pairs = [(product // d, d) for d in range(1, abs(product) + 1) if product % d == 0]
    found = {(large - small - 2 * b) // 4 for small, large in pairs}
    positive = [n for n in found if n > 0]
    require(len(positive) >= 2)
    return sum(positive)


@question('number theory', level=5)
def square_roots_of_one(
    modulus=one_of(56, 60, 72, 80, 84, 88, 90, 105, 112, 120, 126, 132, 140, 144, 168),
    periods=span(7, 21),
):
    """For how many positive integers $n$ up to and including $<modulus * periods>$ does $n^2$ leave
    the remainder $1$ when it is divided by $<modulus>$?

    在不超过 $<modulus * periods>$ 的正整数 $n$ 中，有多少个使 $n^2$ 除以 $<modulus>$ 的余数是 $1$？
    """
    from sympy import factorint

    # 1 has 2 square roots modulo p^e (p odd), 1 modulo 2, 2 modulo 4, 4 modulo 8, 16, ...
    roots = 1
    for prime, power in factorint(modulus).items():
        roots *= 2 if prime > 2 else 2 ** min(power - 1, 2)
    return roots * periods
