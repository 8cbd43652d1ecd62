"""Intermediate algebra: rational functions, conics, extrema, functional equations, logarithms."""

from fractions import Fraction
from math import isqrt

from opencompass_gpassk.rv.question import distinct, one_of, question, require, rising, span
from opencompass_gpassk.rv.wording import root

SMALL = distinct(of=(-7, -6, -5, -4, -3, -2, 2, 3, 4, 5, 6, 7))


@question('intermediate algebra', level=2)
def hole_in_graph(hole=SMALL, p=SMALL, q=SMALL):
    r"""The graph of $y =
    \frac{<polynomial([1, -hole - p, hole * p])>}{<polynomial([1, -hole - q, hole * q])>}$ has
    exactly one hole: a single point that is missing from an otherwise unbroken piece of the curve.
    What are the coordinates of the hole? Answer with an ordered pair of numbers that are integers
    or fractions in lowest terms.

    下列函数的图象恰有一个空心点（曲线在该处缺少一个点，而在其附近没有断开）：
    $y = \frac{<polynomial([1, -hole - p, hole * p])>}{<polynomial([1, -hole - q, hole * q])>}$。
    求这个空心点的坐标，答案写成有序数对，其中的数写成整数或最简分数。
    """
    require(hole + p and hole + q and (hole - p) % (hole - q))
    # The fraction is (x - hole)(x - p) / (x - hole)(x - q).
    return hole, Fraction(hole - p, hole - q)


@question('intermediate algebra', level=3)
def ellipse_foci(
    p=distinct(2, 9),
    q=distinct(2, 9),
    h=one_of(-3, -2, 2, 3),
    k=one_of(-3, -2, 2, 3),
    n=span(2, 9),
):
    """Find the distance between the two foci of the ellipse $<p>x^2 + <q>y^2 <+-2 * p * h>x
    <+-2 * q * k>y <+p * h * h + q * k * k - p * q * n> = 0$. Answer in simplest radical form.

    求下列椭圆的两个焦点之间的距离，答案写成最简根式：
    $<p>x^2 + <q>y^2 <+-2 * p * h>x <+-2 * q * k>y <+p * h * h + q * k * k - p * q * n> = 0$。
    """
    focal = n * abs(p - q)
    require(p * h * h + q * k * k - p * q * n < -9 and isqrt(focal) ** 2 != focal)
    # It is p(x - h)^2 + q(y - k)^2 = pqn: the half-axes squared are qn and pn.
    return 2 * root(focal)


@question('intermediate algebra', level=3)
def quotient_at_least(a=span(15, 60), b=span(2, 12), c=span(2, 5)):
    r"""Find the sum of all integers $x$ for which $\frac{x + <a>}{x - <b>} \ge <c>$.

    求所有满足 $\frac{x + <a>}{x - <b>} \ge <c>$ 的整数 $x$ 的和。
    """
    # Only x > b can do; then x + a >= c(x - b), that is, (c - 1)(x - b) <= a + b.
    count = (a + b) // (c - 1)
    return count * b + count * (count + 1) // 2


@question('intermediate algebra', level=3)
def sum_of_arguments_rule(c=span(2, 8), at_two=span(10, 40), n=span(6, 15)):
    """A function $f$ satisfies $f(x + y) = f(x) + f(y) + <c>xy$ for all real numbers $x$ and $y$,
    and $f(2) = <at_two>$. Find $f(<n>)$.

    函数 $f$ 对所有实数 $x$ 和 $y$ 都满足 $f(x + y) = f(x) + f(y) + <c>xy$，且 $f(2) = <at_two>$。
    求 $f(<n>)$。
    """
    require(at_two > 2 * c and n * (c * n + at_two) % 2 == 0)
    # f(x) - cx^2/2 is additive, so f(n) = cn^2/2 + kn for integers n.
    return n * (c * n + at_two - 2 * c) // 2


@question('intermediate algebra', level=4)
def product_of_two_logs(
    b=distinct(of=(2, 3, 5, 6, 7, 10)),
    c=distinct(of=(2, 3, 5, 6, 7, 10)),
    p=span(2, 4),
    q=span(2, 4),
):
    r"""Find the real number $x > 1$ that satisfies $\log_{<b>} x \cdot \log_{<c>} x = <p>
    \log_{<b>} x + <q> \log_{<c>} x$.

    求大于 $1$ 的实数 $x$，
    使得 $\log_{<b>} x \cdot \log_{<c>} x = <p> \log_{<b>} x + <q> \log_{<c>} x$。
    """
    require(p != q and c**p * b**q >= 100)
    # With log x = L it is L / (log b log c) = p / log b + q / log c: L = p log c + q log b.
    return c**p * b**q


@question('intermediate algebra', level=4)
def powers_over_products(base=span(3, 6), first=span(1, 4), last=span(6, 9)):
    r"""Find $\sum_{k=<first>}^{<last>} \frac{<base>^k (<polynomial([base - 1, -1], 'k')>)}{k(k +
    1)}$. Answer with an integer or a common fraction in lowest terms.

    求下列和式的值，答案写成整数或最简分数：
    $\sum_{k=<first>}^{<last>} \frac{<base>^k (<polynomial([base - 1, -1], 'k')>)}{k(k + 1)}$。
    """
    # The k-th term is b^(k+1)/(k+1) - b^k/k, so that only two ends are left.
    return Fraction(base ** (last + 1), last + 1) - Fraction(base**first, first)


@question('intermediate algebra', level=5)
def tilted_ellipse(
    b=one_of(-7, -6, -5, -4, -3, -2, 2, 3, 4, 5, 6, 7), a=span(2, 9), c=span(2, 9), n=span(2, 9)
):
    """Real numbers $x$ and $y$ satisfy $<a>x^2 <+b>xy + <c>y^2 = <n>$. Find the sum of the greatest
    and the least possible values of $x^2 + y^2$. Answer with a common fraction in lowest terms.

    实数 $x$ 和 $y$ 满足 $<a>x^2 <+b>xy + <c>y^2 = <n>$。求 $x^2 + y^2$ 的最大值与最小值的和，
    答案写成最简分数。
    """
    require(4 * a * c > b * b)
    # On y = wx the value is s = n(1 + w^2)/(a + bw + cw^2). A real w gives it if the discriminant
    # of (cs - n)w^2 + bsw + (as - n) is not negative: for s between that quadratic's two zeros.
    found = Fraction(4 * n * (a + c), 4 * a * c - b * b)
    require(found.denominator > 1)
    return found


@question('intermediate algebra', level=5)
def two_largest_of_five(large=span(9, 20), small=span(-3, 7)):
    """The sum of five real numbers is $<2 * large + 3 * small>$, and the sum of their squares is
    $<2 * large**2 + 3 * small**2>$. What is the greatest possible value of the sum of two of the
    five numbers?

    五个实数的和为 $<2 * large + 3 * small>$，它们的平方和为 $<2 * large**2 + 3 * small**2>$。
    其中两个数之和的最大可能值是多少？
    """
    require(2 * large + 3 * small > 9)
    # Two numbers of sum u have squares of at least u^2/2, the other three of (total - u)^2/3: the
    # sum is greatest where two are equal and the other three, too.
    return 2 * large


@question('intermediate algebra', level=5)
def threefold_argument(a=span(2, 9), b=span(2, 9), t=span(2, 6)):
    r"""For all real numbers $x$ except $0$ and $1$, a function $f$ satisfies $f(x) +
    f\left(\frac{1}{1 - x}\right) = <a>x + <b>$. Find $f(<t>)$. Answer with a common fraction in
    lowest terms.

    对除 $0$ 和 $1$ 以外的所有实数 $x$，
    函数 $f$ 满足 $f(x) + f\left(\frac{1}{1 - x}\right) = <a>x + <b>$。求 $f(<t>)$，
    答案写成最简分数。
    """
    # x -> 1/(1 - x) -> (x - 1)/x -> x gives three equations for three values of f.
    found = (a * (t - Fraction(1, 1 - t) + Fraction(t - 1, t)) + b) / 2
    require(found.denominator > 3)
    return found


@question('intermediate algebra', level=5)
def focal_triangle(u=rising(1, 8), v=rising(1, 8), scale=span(1, 5)):
    """A chord of a parabola passes through the focus, which divides it into pieces of length
    $<scale * u * u>$ and $<scale * v * v>$. Find the area of the triangle whose corners are the two
    ends of the chord and the parabola's vertex. Answer with a common fraction in lowest terms.

    抛物线的一条弦过焦点，被焦点分成长为 $<scale * u * u>$ 和 $<scale * v * v>$ 的两段。
    求以这条弦的两个端点和抛物线的顶点为顶点的三角形的面积，答案写成最简分数。
    """
    # With the pieces m and n, the vertex is mn/(m + n) away from the focus; across the axis, the
    # ends are 2 sqrt(mn) apart.
    found = Fraction(scale**2 * (u * v) ** 3, u * u + v * v)
    require(4 < scale * v * v < 100 and found.denominator > 1)
    return found
