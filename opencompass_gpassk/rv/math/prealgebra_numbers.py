"""Prealgebra with bare numbers: operations, fractions, percents, primes, averages, powers."""

from fractions import Fraction

from opencompass_gpassk.rv.question import either_sign, one_of, question, require, span


@question('prealgebra', level=1)
def times_before_plus(summand=span(2, 20), factor=span(2, 9), other=span(2, 9)):
    r"""What is $<summand> + <factor> \times <other>$?

    计算 $<summand> + <factor> \times <other>$。
    """
    return summand + factor * other


@question('prealgebra', level=1)
def percent_of_tens(percent=span(10, 90, step=10), whole=span(20, 200, step=10)):
    r"""What is $<percent>\%$ of $<whole>$?

    $<whole>$ 的 $<percent>\%$ 是多少？
    """
    return percent * whole // 100


@question('prealgebra', level=2)
def next_two_primes(bound=span(20, 90)):
    """What is the sum of the two smallest prime numbers greater than $<bound>$?

    大于 $<bound>$ 的最小的两个质数之和是多少？
    """
    primes = [n for n in range(bound + 1, bound + 40) if all(n % d for d in range(2, n))]
    return primes[0] + primes[1]


@question('prealgebra', level=2)
def fifth_number_joins(before=span(25, 75), change=either_sign(1, 5)):
    """The average of four numbers is $<before>$. A fifth number joins them, and the average of all
    five is $<before + change>$. What is the fifth number?

    四个数的平均数是 $<before>$。再加入第五个数后，这五个数的平均数是 $<before + change>$。
    第五个数是多少？
    """
    # The sum of numbers is their average times how many there are.
    return 5 * (before + change) - 4 * before


@question('prealgebra', level=2)
def part_of_the_way(
    a=span(1, 5), b=span(3, 6), c=span(1, 5), d=span(3, 6), part=span(1, 3), parts=one_of(4, 5)
):
    """On the number line, the point $P$ lies $<Fraction(part, parts)>$ of the way from
    $<Fraction(a, b)>$ to $<Fraction(c, d)>$. What number does $P$ represent? Answer with a common
    fraction in lowest terms.

    数轴上，点 $P$ 在表示 $<Fraction(a, b)>$ 和 $<Fraction(c, d)>$ 的两点之间，
    它到前一点的距离是这两点间距离的 $<Fraction(part, parts)>$。
    点 $P$ 表示的数是多少？答案写成最简分数。
    """
    start, end, share = Fraction(a, b), Fraction(c, d), Fraction(part, parts)
    require(start < end <= 1)
    return start + share * (end - start)


@question('prealgebra', level=3)
def four_equal_powers(m=span(5, 15), k=span(3, 15)):
    r"""Find the integer $n$ for which
    $\frac{8^{<m>} + 8^{<m>} + 8^{<m>} + 8^{<m>}}{2^{<k>}} = 2^n$.

    求满足 $\frac{8^{<m>} + 8^{<m>} + 8^{<m>} + 8^{<m>}}{2^{<k>}} = 2^n$ 的整数 $n$。
    """
    # Four times a power of 8 is a power of 2; dividing takes one exponent from the other.
    return 3 * m + 2 - k


@question('prealgebra', level=3)
def late_repeating(lead=span(1, 9), period=span(12, 98)):
    r"""Write the repeating decimal $0.<lead>\overline{<period>}$, in which the digits under the bar
    repeat forever, as a common fraction in lowest terms.

    把循环小数 $0.<lead>\overline{<period>}$（横线下的数字无限循环）写成最简分数。
    """
    require(period % 11)
    # A period of two digits, one place behind the point, is worth its number over 990.
    return Fraction(lead, 10) + Fraction(period, 990)


@question('prealgebra', level=4)
def least_largest_of_five(median=span(10, 20), more=span(3, 8)):
    """The median of five different positive integers is $<median>$, and their mean is
    $<median + more>$. What is the least possible value of the largest of them?

    五个互不相同的正整数的中位数是 $<median>$，平均数是 $<median + more>$。
    其中最大的数最小可能是多少？
    """
    # The largest is least if two stand just below the median, two as near as can be above.
    upper_two = 5 * (median + more) - median - (median - 1) - (median - 2)
    return upper_two // 2 + 1


@question('prealgebra', level=4)
def terminating_ones(
    part=one_of(16, 20, 25, 32, 40, 50, 64, 80, 100, 125, 128, 160),
    rest=one_of(3, 7, 9, 11, 13, 17, 19, 21, 23, 27),
):
    r"""How many of the $<part * rest - 1>$ fractions $\frac{1}{<part * rest>},
    \frac{2}{<part * rest>}, \frac{3}{<part * rest>}, \dots,
    \frac{<part * rest - 1>}{<part * rest>}$ are equal to a decimal with finitely many digits?

    在 $<part * rest - 1>$ 个分数 $\frac{1}{<part * rest>}, \frac{2}{<part * rest>},
    \frac{3}{<part * rest>}, \dots, \frac{<part * rest - 1>}{<part * rest>}$ 中，
    有多少个可以化成有限小数？
    """
    require(150 <= part * rest <= 1200)
    # A fraction terminates if the rest, which is prime to 10, divides its numerator.
    return part - 1


@question('prealgebra', level=5)
def chain_of_products(a=span(2, 12), d=span(2, 8)):
    r"""The sum $\frac{1}{<a> \cdot <a + d>} + \frac{1}{<a + d> \cdot <a + 2*d>} +
    \frac{1}{<a + 2*d> \cdot <a + 3*d>} + \dots + \frac{1}{<a + 9*d> \cdot <a + 10*d>}$ has ten
    terms. Find the sum. Answer with a common fraction in lowest terms.

    和式 $\frac{1}{<a> \cdot <a + d>} + \frac{1}{<a + d> \cdot <a + 2*d>}
    + \frac{1}{<a + 2*d> \cdot <a + 3*d>} + \dots + \frac{1}{<a + 9*d> \cdot <a + 10*d>}$ 共有十项。
    求这个和，答案写成最简分数。
    """
    # 1/(a(a+d)) is (1/a - 1/(a+d))/d, so that of ten such terms only two ends are left.
    return (Fraction(1, a) - Fraction(1, a + 10 * d)) / d
