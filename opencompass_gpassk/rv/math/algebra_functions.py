"""Algebra: functions and their inverses, lines, parabolas, least and greatest values."""

from fractions import Fraction

from opencompass_gpassk.rv.question import either_sign, question, require, span


@question('algebra', level=1)
def value_of_composite(
    factor=either_sign(2, 9),
    at=either_sign(2, 9),
    shift=span(-20, 20),
    square=span(-20, 20),
):
    """Let $f(x) = <factor>x <+shift>$ and $g(x) = x^2 <+square>$. What is $f(g(<at>))$?

    设 $f(x) = <factor>x <+shift>$，$g(x) = x^2 <+square>$。求 $f(g(<at>))$ 的值。
    """
    require(shift and square)
    return factor * (at**2 + square) + shift


@question('algebra', level=2)
def line_to_the_axis(a=span(-9, 9), b=span(-9, 9), c=span(-9, 9), d=span(-9, 9)):
    """A straight line passes through the points $(<a>, <b>)$ and $(<c>, <d>)$. What is the
    $x$-coordinate of the point where it meets the $x$-axis? Answer with a common fraction in lowest
    terms.

    一条直线经过点 $(<a>, <b>)$ 和 $(<c>, <d>)$。它与 $x$ 轴交点的横坐标是多少？答案写成最简分数。
    """
    require(a != c and b and d and b != d)
    # y falls to 0 at the rate of the slope, which two points give.
    x = a - Fraction(b * (c - a), d - b)
    require(x.denominator > 1)
    return x


@question('algebra', level=3)
def two_steps_back(a=span(-7, 7), d=span(-7, 7), factor=span(2, 7), value=span(2, 9)):
    r"""Let $f(x) = \frac{<factor>x <+a>}{x <+d>}$. For which $x$ is $f(f(x)) = <value>$? Answer
    with a common fraction in lowest terms.

    设 $f(x) = \frac{<factor>x <+a>}{x <+d>}$。当 $x$ 取何值时 $f(f(x)) = <value>$？
    答案写成最简分数。
    """
    require(a and d and factor + d and factor * d != a and factor != value)
    # y = (factor x + a) / (x + d) means x = (a - dy) / (y - factor); go back twice.
    once = Fraction(a - d * value, value - factor)
    require(once != factor)
    twice = (a - d * once) / (once - factor)
    require(9 < twice.denominator < 99)
    return twice


@question('algebra', level=3)
def dearer_boat_tours(price=span(12, 40), guests=span(150, 600), lost=span(3, 12)):
    """At $<price>$ dollars a ticket, a boat tour has $<guests>$ guests a day. For every dollar by
    which the price is raised, the tour loses $<lost>$ guests a day. The price must be a whole
    number of dollars and may not be lowered. What is the greatest possible daily income from the
    tickets, in dollars?

    游船票价为每张 $<price>$ 元时，每天有 $<guests>$ 名游客。票价每提高一元，
    每天就减少 $<lost>$ 名游客。票价必须是整数元，且不得降价。每天的门票收入最多是多少元？
    """
    require(price * lost + 6 * lost < guests)
    # A quadratic of falling differences is greatest at one of the integers around its vertex.
    vertex = (guests - lost * price) // (2 * lost)
    return max((price + k) * (guests - lost * k) for k in (vertex, vertex + 1))


@question('algebra', level=4)
def fourfold_map(c=span(2, 9), times=span(100, 250), start=span(2, 15)):
    r"""Let $f(x) = \frac{<c>x - <c * c>}{x + <c>}$. Starting with the number $<start>$, the
    function $f$ is applied $<times>$ times, each time to the previous result. What is the final
    result? Answer with a common fraction in lowest terms.

    设 $f(x) = \frac{<c>x - <c * c>}{x + <c>}$。从数 $<start>$ 开始，连续 $<times>$ 次求函数值，
    每次都把上一次的结果代入 $f$。最后的结果是多少？答案写成最简分数。
    """
    require(times % 4 and start != c)
    # Twice f is x -> -c^2 / x, so that four times f is x again.
    x = Fraction(start)
    result = {1: c * (x - c) / (x + c), 2: -(c**2) / x, 3: -c * (x + c) / (x - c)}[times % 4]
    require(result.denominator > 1)
    return result


@question('algebra', level=4)
def equation_with_swapped_argument(
    factor=span(2, 6), swap=span(4, 30), slope=span(2, 9), at=span(2, 12)
):
    r"""A function $f$ is defined for all real numbers except $0$, and $f(x) + <factor>
    f\left(\frac{<swap>}{x}\right) = <slope>x$ for all $x \ne 0$. Find $f(<at>)$. Answer with a
    common fraction in lowest terms.

    函数 $f$ 对除 $0$ 以外的所有实数有定义，
    且 $f(x) + <factor> f\left(\frac{<swap>}{x}\right) = <slope>x$ 对所有 $x \ne 0$ 成立。
    求 $f(<at>)$，答案写成最简分数。
    """
    require(at**2 != swap)
    # Putting swap / x for x gives a second equation for the same two unknowns.
    value = slope * (at - factor * Fraction(swap, at)) / (1 - factor**2)
    require(1 < value.denominator < 100)
    return value


@question('algebra', level=4)
def tangent_points_apart(b=span(-9, 9), c=span(-9, 9), p=span(-5, 5), h=span(2, 19)):
    """Two straight lines through the point $(<p>, <p*p + b*p + c - h>)$ are tangent to the parabola
    $y = <polynomial([1, b, c])>$. What is the distance between the two points where they touch it?
    Answer in simplest radical form.

    过点 $(<p>, <p*p + b*p + c - h>)$ 的两条直线都与抛物线 $y = <polynomial([1, b, c])>$ 相切。
    两个切点之间的距离是多少？答案写成最简根式。
    """
    import sympy

    slope = 2 * p + b
    require(b and p and p * p + b * p + c != h and abs(slope) <= 6)
    # From h below (p, f(p)), tangents touch at p -+ sqrt(h); that chord has slope f'(p).
    distance = 2 * sympy.sqrt(h * (1 + slope**2))
    require(not distance.is_integer)
    return distance


@question('algebra', level=5)
def squares_of_nested_roots(low=span(-9, 2), high=span(1, 9), value=span(9, 60)):
    """Let $f(x) = <polynomial([1, -low - high, low * high + value])>$. Find the sum of the squares
    of all real numbers $x$ for which $f(f(x)) = <value>$.

    设 $f(x) = <polynomial([1, -low - high, low * high + value])>$。
    求所有满足 $f(f(x)) = <value>$ 的实数 $x$ 的平方和。
    """
    b, c = -low - high, low * high + value
    # f(y) = value for y = low, which is under the minimum of f, where no real x leads, and high.
    require(b and c and low < c - Fraction(b * b, 4) < high)
    # The roots of x^2 + bx + c = high have this sum of squares.
    return b**2 - 2 * (c - high)


@question('algebra', level=5)
def least_sum_of_roots(p=span(-9, 9), a=span(1, 9), q=span(-9, 9), b=span(1, 9)):
    r"""What is the least value of
    $\sqrt{<polynomial([1, -2*p, p*p + a*a])>} + \sqrt{<polynomial([1, -2*q, q*q + b*b])>}$ for real
    $x$? Answer in simplest radical form.

    求 $\sqrt{<polynomial([1, -2*p, p*p + a*a])>} + \sqrt{<polynomial([1, -2*q, q*q + b*b])>}$
    （$x$ 为实数）的最小值，答案写成最简根式。
    """
    import sympy

    require(p and q and abs(p - q) > 2)
    # The roots are distances from (x, 0) to (p, a) and (q, -b): least on their straight line.
    least = sympy.sqrt((p - q) ** 2 + (a + b) ** 2)
    require(not least.is_integer)
    return least
