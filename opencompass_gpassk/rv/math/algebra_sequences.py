"""Algebra: sequences and their sums, roots, mixtures, work and rates, factoring."""

import math
from fractions import Fraction

from opencompass_gpassk.rv.question import distinct, one_of, question, require, rising, span

PERCENTS = range(10, 85, 5)


@question('algebra', level=1)
def place_of_a_term(first=span(5, 40), step=span(3, 15), n=span(21, 81)):
    r"""In the arithmetic sequence $<first>, <first + step>, <first + 2*step>, \dots$, the $n$-th
    term is $<first + step * (n - 1)>$. What is $n$?

    在等差数列 $<first>, <first + step>, <first + 2*step>, \dots$ 中，
    第 $n$ 项是 $<first + step * (n - 1)>$。求 $n$。
    """
    return n


@question('algebra', level=2)
def syrup_made_sweeter(
    weak=rising(of=PERCENTS),
    wanted=rising(of=PERCENTS),
    strong=rising(of=PERCENTS),
    litres=span(6, 45),
):
    r"""Lena has $<litres>$ litres of a syrup that is $<weak>\%$ sugar. How many litres of another
    syrup, which is $<strong>\%$ sugar, must she add to obtain a syrup that is $<wanted>\%$ sugar?
    (All percentages are by volume.)

    莉娜有 $<litres>$ 升含糖 $<weak>\%$ 的糖浆。她要加入多少升含糖 $<strong>\%$ 的另一种糖浆，
    才能得到含糖 $<wanted>\%$ 的糖浆？（百分数均按体积计。）
    """
    # The sugar missing in the weak syrup is the surplus of the strong one.
    missing, surplus = litres * (wanted - weak), strong - wanted
    require(surplus > 0 and missing % surplus == 0)
    return missing // surplus


@question('algebra', level=2)
def terms_from_both_ends(first=span(3, 40), step=span(2, 9)):
    """The fourth term of an arithmetic sequence is $<first + 3*step>$ and its eleventh term is
    $<first + 10*step>$. What is the sum of its first $14$ terms?

    一个等差数列的第四项是 $<first + 3*step>$，第十一项是 $<first + 10*step>$。
    求它的前 $14$ 项的和。
    """
    # The fourth term and the fourth to last have the sum of the first and the last.
    return 7 * (2 * first + 13 * step)


@question('algebra', level=3)
def root_within_root(n=rising(3, 24), m=rising(3, 24)):
    r"""The number $\sqrt{<m + n> + \sqrt{<4*m*n>}}$ can be written as $\sqrt{m} + \sqrt{n}$ with
    positive integers $m > n$. Find the ordered pair $(m, n)$.

    数 $\sqrt{<m + n> + \sqrt{<4*m*n>}}$ 可以写成 $\sqrt{m} + \sqrt{n}$，其中 $m$、
    $n$ 为正整数且 $m > n$。求有序数对 $(m, n)$。
    """
    # Squaring shows the sum m + n and the product 4mn; were its root an integer, it would go.
    require(math.isqrt(m * n) ** 2 != m * n)
    return m, n


@question('algebra', level=3)
def pumps_at_one_basin(p=rising(1, 6), q=rising(1, 6), scale=span(2, 9)):
    """Two pumps working together fill a basin in $<scale * p * q>$ minutes. Alone, the weaker pump
    would need $<scale * (q*q - p*p)>$ minutes longer than the stronger one. How many minutes would
    the stronger pump need alone?

    两台水泵一起工作，$<scale * p * q>$ 分钟可以注满一个水池。
    单独工作时，小水泵注满水池要比大水泵多用 $<scale * (q*q - p*p)>$ 分钟。
    大水泵单独注满水池需要多少分钟？
    """
    # The pumps take scale * p * (p + q) and scale * q * (p + q) minutes.
    return scale * p * (p + q)


@question('algebra', level=4)
def sums_in_stretches(u=distinct(1, 6), v=distinct(1, 6), scale=span(2, 9)):
    """All terms of a geometric sequence are positive real numbers. The sum of its first $10$
    terms is $<scale * v*v>$, and the sum of its first $30$ terms is
    $<scale * (v*v + u*v + u*u)>$. What is the sum of its first $20$ terms?

    一个等比数列的各项都是正实数，前 $10$ 项的和是 $<scale * v*v>$，
    前 $30$ 项的和是 $<scale * (v*v + u*v + u*u)>$。求它的前 $20$ 项的和。
    """
    # The sums of stretches of ten terms are a geometric sequence too, here of the ratio u / v.
    return scale * (v * v + u * v)


@question('algebra', level=4)
def root_of_four_factors(n=span(21, 89), d=span(2, 7)):
    r"""Compute the integer $\sqrt{<n> \cdot <n + d> \cdot <n + 2*d> \cdot <n + 3*d> + <d**4>}$.

    计算整数 $\sqrt{<n> \cdot <n + d> \cdot <n + 2*d> \cdot <n + 3*d> + <d**4>}$ 的值。
    """
    # n(n+d)(n+2d)(n+3d) + d^4 is the square of this.
    return n**2 + 3 * n * d + d**2


@question('algebra', level=5)
def drone_along_barges(
    legs=one_of((3, 4), (5, 12), (8, 15), (7, 24), (20, 21), (12, 35)),
    i=span(0, 1),
    scale=span(3, 40),
):
    """A string of barges, $<scale * legs[i]>$ metres from end to end, is towed along a straight
    canal at a constant speed. A drone films it at a constant greater speed, the same both ways: it
    flies level from the stern of the last barge to the bow of the first one and, without a pause,
    back to the stern of the last. During this flight the barges move on by $<scale * legs[1 - i]>$
    metres. How many metres does the drone fly?

    一支由驳船首尾相连组成、全长 $<scale * legs[i]>$ 米的船队，沿笔直的运河被匀速拖行。
    一架无人机水平飞行拍摄，往返速度相同且保持不变，比船队快：
    它从最后一艘驳船的船尾飞到第一艘的船头，然后立即飞回最后一艘的船尾。在无人机往返一次的时间里，
    船队前进了 $<scale * legs[1 - i]>$ 米。无人机一共飞了多少米？
    """
    length, advance = scale * legs[i], scale * legs[1 - i]
    require(30 <= length <= 300 and 30 <= advance <= 500)
    # With speed ratio k, L/(k-1) + L/(k+1) = d; the drone flies kd = L + sqrt(L^2 + d^2).
    return length + math.isqrt(length**2 + advance**2)


@question('algebra', level=5)
def fractions_of_cubes(a=span(3, 9), b=span(20, 60)):
    r"""The product $\frac{<a>^3 - 1}{<a>^3 + 1} \cdot \frac{<a + 1>^3 - 1}{<a + 1>^3 + 1} \cdots
    \frac{<b>^3 - 1}{<b>^3 + 1}$ has one factor $\frac{n^3 - 1}{n^3 + 1}$ for each integer $n$ from
    $<a>$ to $<b>$. Find the product. Answer with a common fraction in lowest terms.

    在乘积 $\frac{<a>^3 - 1}{<a>^3 + 1} \cdot \frac{<a + 1>^3 - 1}{<a + 1>^3 + 1}
    \cdots \frac{<b>^3 - 1}{<b>^3 + 1}$ 中，每个因子都形如 $\frac{n^3 - 1}{n^3 + 1}$，
    其中 $n$ 依次取从 $<a>$ 到 $<b>$ 的所有整数。求这个乘积，答案写成最简分数。
    """
    # Both (n-1)/(n+1) and (n^2+n+1)/(n^2-n+1), the factors of a fraction, telescope.
    return Fraction(a * (a - 1), b * (b + 1)) * Fraction(b * b + b + 1, a * a - a + 1)
