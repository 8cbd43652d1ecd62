"""Intermediate algebra: roots and coefficients, remainders, interpolation, complex roots."""

from fractions import Fraction

from opencompass_gpassk.rv.question import either_sign, one_of, question, require, span
from opencompass_gpassk.rv.wording import polynomial


@question('intermediate algebra', level=2)
def one_remainder_for_another(
    b=span(-9, 9), c=span(-9, 9), r=span(-4, 4), k=span(-6, 6), s=span(-4, 4)
):
    """When $x^3 + kx^2 <+b>x <+c>$, where $k$ is a constant, is divided by $x <+-r>$, the remainder
    is $<r**3 + k * r**2 + b * r + c>$. Find the remainder when the same polynomial is divided by $x
    <+-s>$.

    多项式 $x^3 + kx^2 <+b>x <+c>$（$k$ 为常数）
    除以 $x <+-r>$ 所得的余数是 $<r**3 + k * r**2 + b * r + c>$。
    求该多项式除以 $x <+-s>$ 所得的余数。
    """
    require(0 not in (r, s, r - s) and abs(b) > 1 and c != 0)
    # P(s) is the remainder on division by x - s.
    return s**3 + k * s**2 + b * s + c


@question('intermediate algebra', level=2)
def roots_over_each_other(a=span(2, 7), b=span(-9, 9), c=span(-9, 9)):
    r"""Let $u$ and $v$ be the two roots, real or not, of $<polynomial([a, b, c])> = 0$. Find
    $\frac{u}{v} + \frac{v}{u}$. Answer with a common fraction in lowest terms.

    设 $u$、$v$ 是方程 $<polynomial([a, b, c])> = 0$ 的两个根（实根或虚根）。
    求 $\frac{u}{v} + \frac{v}{u}$ 的值，答案写成最简分数。
    """
    require(b * c != 0 and b * b % (a * c) != 0)
    # u/v + v/u = ((u + v)^2 - 2uv) / uv, with u + v = -b/a and uv = c/a.
    return Fraction(b * b - 2 * a * c, a * c)


@question('intermediate algebra', level=3)
def remainder_by_the_product(r=span(-9, 9), s=span(-9, 9), slope=span(-9, 9), shift=span(-9, 9)):
    """A polynomial $P(x)$ leaves the remainder $<slope * r + shift>$ when it is divided by $x
    <+-r>$, and the remainder $<slope * s + shift>$ when it is divided by $x <+-s>$. What remainder
    does $P(x)$ leave when it is divided by $(x <+-r>)(x <+-s>)$? Answer with a polynomial in $x$.

    多项式 $P(x)$ 除以 $x <+-r>$ 余 $<slope * r + shift>$，除以 $x <+-s>$ 余 $<slope * s + shift>$。
    求 $P(x)$ 除以 $(x <+-r>)(x <+-s>)$ 所得的余式，答案写成 $x$ 的多项式。
    """
    require(0 not in (r, s, r - s) and abs(slope) > 1 and abs(shift) > 1)
    # The remainder is the line through (r, P(r)) and (s, P(s)).
    return polynomial([slope, shift])


@question('intermediate algebra', level=3)
def root_products_squared(a=span(-9, 9), b=span(-9, 9), c=span(-9, 9)):
    """Let $p$, $q$ and $r$ be the complex roots of $<polynomial([1, a, b, c])>$, counted with
    multiplicity. Find the value of $p^2q^2 + q^2r^2 + r^2p^2$.

    设 $p$、$q$、$r$ 是多项式 $<polynomial([1, a, b, c])>$ 的全部复数根（重根按重数计）。
    求 $p^2q^2 + q^2r^2 + r^2p^2$ 的值。
    """
    require(a * b * c != 0)
    # (pq + qr + rp)^2 = p^2q^2 + q^2r^2 + r^2p^2 + 2pqr(p + q + r).
    return b * b - 2 * a * c


@question('intermediate algebra', level=4)
def quartic_on_a_line(lead=one_of(-5, -4, -3, -2, 2, 3, 4, 5), first=span(2, 20), step=span(2, 12)):
    """A polynomial $P(x)$ of degree $4$ with leading coefficient $<lead>$ has $P(1) = <first>$,
    $P(2) = <first + step>$, $P(3) = <first + 2 * step>$ and $P(4) = <first + 3 * step>$. Find
    $P(-1) + P(6)$.

    $4$ 次多项式 $P(x)$ 的首项系数为 $<lead>$，且 $P(1) = <first>$，$P(2) = <first + step>$，
    $P(3) = <first + 2 * step>$，$P(4) = <first + 3 * step>$。求 $P(-1) + P(6)$。
    """
    # P(x) minus the line through the four points is lead times (x - 1)(x - 2)(x - 3)(x - 4), which
    # is 120 both at -1 and at 6.
    return 2 * first + 3 * step + 240 * lead


@question('intermediate algebra', level=4)
def roots_seen_from_a_point(a=span(-9, 9), b=span(-9, 9), c=span(-9, 9), t=span(2, 4)):
    r"""Let $r_1$, $r_2$, $r_3$ and $r_4$ be the complex roots of $<polynomial([1, a, 0, b, c])>$,
    counted with multiplicity. Find $\frac{1}{<t> - r_1} + \frac{1}{<t> - r_2} + \frac{1}{<t> - r_3}
    + \frac{1}{<t> - r_4}$. Answer with a common fraction in lowest terms.

    设 $r_1$、$r_2$、$r_3$、
    $r_4$ 是多项式 $<polynomial([1, a, 0, b, c])>$ 的全部复数根（重根按重数计）。求下式的值，
    答案写成最简分数：
    $\frac{1}{<t> - r_1} + \frac{1}{<t> - r_2} + \frac{1}{<t> - r_3} + \frac{1}{<t> - r_4}$。
    """
    value = t**4 + a * t**3 + b * t + c
    require(a * b * c * value != 0)
    # The sum of 1/(t - r) over the roots r of P is P'(t)/P(t).
    found = Fraction(4 * t**3 + 3 * a * t**2 + b, value)
    require(found.denominator >= 10)
    return found


@question('intermediate algebra', level=4)
def mirrored_quartic(outer=either_sign(3, 18), inner=span(-1, 1)):
    """Find the sum of the cubes of all real solutions of
    $<polynomial([1, -outer - inner, outer * inner + 2, -outer - inner, 1])> = 0$.

    求下列方程的所有实数解的立方和：
    $<polynomial([1, -outer - inner, outer * inner + 2, -outer - inner, 1])> = 0$。
    """
    # With t = x + 1/x it is (t - outer)(t - inner) = 0; x is real where |t| >= 2.
    return outer**3 - 3 * outer


@question('intermediate algebra', level=5)
def possible_integer_roots(a=span(1, 5), gap=span(2, 6), u=span(6, 30), slope=span(1, 12)):
    """A polynomial $P(x)$ with integer coefficients satisfies $P(<a>) = <u>$ and $P(<a + gap>) =
    <u + gap * slope>$. Which integers are a root of at least one such polynomial? List them,
    separated by commas.

    整系数多项式 $P(x)$ 满足 $P(<a>) = <u>$，$P(<a + gap>) = <u + gap * slope>$。
    如果 $P(x)$ 有整数根，这样的根可能是哪些整数？列出所有可能的值，用逗号隔开。
    """
    b, v = a + gap, u + gap * slope
    # P(x) = (x - r)Q(x): a - r divides P(a), b - r divides P(b), and a - b divides Q(a) - Q(b).
    tried = (r for r in range(a - u, a + u + 1) if r not in (a, b))
    both = [r for r in tried if u % (a - r) == 0 and v % (b - r) == 0]
    found = [r for r in both if (u // (a - r) - v // (b - r)) % gap == 0]
    require(2 <= len(found) <= 4)
    return found


@question('intermediate algebra', level=5)
def fifth_powers_of_three(e1=span(1, 4), e2=span(-4, 3), e3=span(-3, 5)):
    """Complex numbers $x$, $y$ and $z$ satisfy $x + y + z = <e1>$, $x^2 + y^2 + z^2 =
    <e1**2 - 2 * e2>$ and $x^3 + y^3 + z^3 = <e1**3 - 3 * e1 * e2 + 3 * e3>$. Find $x^5 + y^5 +
    z^5$.

    复数 $x$、$y$、$z$ 满足 $x + y + z = <e1>$，$x^2 + y^2 + z^2 = <e1**2 - 2 * e2>$，
    $x^3 + y^3 + z^3 = <e1**3 - 3 * e1 * e2 + 3 * e3>$。求 $x^5 + y^5 + z^5$。
    """
    require(e2 != 0)
    # From n = 4 on, x^n + y^n + z^n is e1 p_(n-1) - e2 p_(n-2) + e3 p_(n-3).
    powers = [e1, e1**2 - 2 * e2, e1**3 - 3 * e1 * e2 + 3 * e3]
    for _ in range(2):
        powers.append(e1 * powers[-1] - e2 * powers[-2] + e3 * powers[-3])
    require(abs(powers[-1]) >= 10)
    return powers[-1]


@question('intermediate algebra', level=5)
def fifth_roots_product(a=span(-5, 5), b=span(-5, 5)):
    r"""Let $P(z) = <polynomial([1, a, b], 'z')>$ and $\omega = \cos\frac{2\pi}{5} +
    i\sin\frac{2\pi}{5}$, where $i^2 = -1$. Find the value of the product $\prod_{k=0}^{4}
    P(\omega^k)$.

    设 $P(z) = <polynomial([1, a, b], 'z')>$，$\omega = \cos\frac{2\pi}{5} + i\sin\frac{2\pi}{5}$，
    其中 $i^2 = -1$。求乘积 $\prod_{k=0}^{4} P(\omega^k)$ 的值。
    """
    # With z^2 + az + b = (z - u)(z - v) the product is (1 - u^5)(1 - v^5).
    powers = [2, -a]  # u^n + v^n
    for _ in range(4):
        powers.append(-a * powers[-1] - b * powers[-2])
    found = 1 - powers[5] + b**5
    require(a != 0 and abs(b) > 1 and abs(found) >= 10)
    return found


@question('intermediate algebra', level=5)
def two_roots_add_up(s=span(-7, 7), t=span(-7, 7), p=span(-7, 7), q=span(-7, 7)):
    """Two of the four complex roots of $<polynomial([1, -s - t, p + q + s * t, -s * q - t * p, 0])>
    + k$, counted with multiplicity, add up to $<s>$. Find the number $k$.

    按重数计算，
    多项式 $<polynomial([1, -s - t, p + q + s * t, -s * q - t * p, 0])> + k$ 有四个复数根，
    其中某两个根的和为 $<s>$。求常数 $k$。
    """
    require(0 not in (s, s + t, p + q + s * t, s * q + t * p, p * q) and s != t)
    # It is (x^2 - sx + p)(x^2 - tx + q), where the coefficients determine t, p and q.
    return p * q
