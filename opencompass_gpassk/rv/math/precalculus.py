"""Precalculus: trigonometry, vectors, matrices, complex numbers, polar coordinates."""

from fractions import Fraction
from math import isqrt

from opencompass_gpassk.rv.question import (
    distinct,
    either_sign,
    one_of,
    question,
    require,
    several,
    span,
)
from opencompass_gpassk.rv.wording import root

NONZERO = [number for number in range(-9, 10) if number]


def dot(u, v):
    return sum(a * b for a, b in zip(u, v, strict=True))


@question('precalculus', level=2)
def factor_along_vector(v=several(3, one_of(*NONZERO)), w=several(3, one_of(*NONZERO))):
    r"""Let $\mathbf{v} = <v>$ and $\mathbf{w} = <w>$. For exactly one real number $t$, the vector
    $\mathbf{v} - t\mathbf{w}$ is perpendicular to $\mathbf{w}$. Find $t$. Answer with a common
    fraction in lowest terms.

    设 $\mathbf{v} = <v>$，$\mathbf{w} = <w>$。
    恰有一个实数 $t$ 使向量 $\mathbf{v} - t\mathbf{w}$ 与 $\mathbf{w}$ 垂直。求 $t$，
    答案写成最简分数。
    """
    # (v - tw) . w = 0 gives t = v . w / w . w.
    require(dot(v, w) % dot(w, w))
    return Fraction(dot(v, w), dot(w, w))


@question('precalculus', level=2)
def polar_points_apart(angle=span(10, 85), r=span(3, 12), s=span(3, 12), between=one_of(60, 120)):
    r"""Two points have the polar coordinates $(<r>, <angle>^\circ)$ and $(<s>,
    <angle + between>^\circ)$, the distance from the pole first. Find the distance between them.
    Answer in simplest radical form.

    两点的极坐标为 $(<r>, <angle>^\circ)$ 和 $(<s>, <angle + between>^\circ)$（前一个数是极径）。
    求这两点之间的距离，答案写成最简根式。
    """
    # The law of cosines, the angle at the pole being the difference of the two.
    square = r * r + s * s - (r * s if between == 60 else -r * s)
    require(r != s and isqrt(square) ** 2 != square)
    return root(square)


@question('precalculus', level=3)
def inverse_from_matrix(
    a=one_of(*NONZERO), b=one_of(*NONZERO), c=one_of(*NONZERO), d=one_of(*NONZERO)
):
    r"""Let $M = \begin{pmatrix} <a> & <b> \\ <c> & <d> \end{pmatrix}$, and let $I$ be the identity
    matrix. The real numbers $p$ and $q$ satisfy $M^{-1} = pI + qM$. Find the ordered pair $(p, q)$,
    and write each number as an integer or a common fraction in lowest terms.

    设 $M = \begin{pmatrix} <a> & <b> \\ <c> & <d> \end{pmatrix}$，$I$ 是单位矩阵。实数 $p$、
    $q$ 满足 $M^{-1} = pI + qM$。求有序数对 $(p, q)$，其中每个数写成整数或最简分数。
    """
    # M^2 = tM - nI with the trace t and the determinant n, so that M(tI - M) = nI.
    determinant = a * d - b * c
    require(abs(determinant) > 4 and a + d != 0)
    return Fraction(a + d, determinant), Fraction(-1, determinant)


@question('precalculus', level=3)
def sine_cosine_cubes(above=span(1, 16), below=span(2, 12)):
    r"""A real number $x$ satisfies $\sin x + \cos x = <Fraction(above, below)>$. Find the value of
    $\sin^3 x + \cos^3 x$. Answer with a common fraction in lowest terms.

    实数 $x$ 满足 $\sin x + \cos x = <Fraction(above, below)>$。求 $\sin^3 x + \cos^3 x$ 的值，
    答案写成最简分数。
    """
    require(above % below and above**2 < 2 * below**2)
    # With the sum k, the product is (k^2 - 1)/2, and the cubes add up to k^3 - 3k(k^2 - 1)/2.
    k = Fraction(above, below)
    return k * (3 - k * k) / 2


@question('precalculus', level=3)
def length_of_combination(a=span(3, 12), b=span(3, 12), plus=span(3, 20)):
    r"""Two vectors satisfy $|\mathbf{a}| = <a>$, $|\mathbf{b}| = <b>$ and $|\mathbf{a} +
    \mathbf{b}| = <plus>$. Find $|2\mathbf{a} - \mathbf{b}|$. Answer with an integer or in simplest
    radical form.

    两个向量满足 $|\mathbf{a}| = <a>$，$|\mathbf{b}| = <b>$，$|\mathbf{a} + \mathbf{b}| = <plus>$。
    求 $|2\mathbf{a} - \mathbf{b}|$，答案写成整数或最简根式。
    """
    require(abs(a - b) < plus < a + b and a * a + b * b != plus * plus)
    square = 6 * a * a + 3 * b * b - 2 * plus * plus
    require(square >= 100)
    # |a + b|^2 gives 2 a . b, and |2a - b|^2 = 4|a|^2 - 4 a . b + |b|^2.
    return root(square)


@question('precalculus', level=4)
def tangents_in_ratio(a=distinct(1, 9), b=distinct(1, 9), c=distinct(1, 9)):
    r"""The angles of triangle $ABC$ satisfy $\tan A : \tan B : \tan C = <a> : <b> : <c>$. Find
    $\cos^2 A$. Answer with a common fraction in lowest terms.

    三角形 $ABC$ 的三个内角满足 $\tan A : \tan B : \tan C = <a> : <b> : <c>$。求 $\cos^2 A$，
    答案写成最简分数。
    """
    # The tangents at, bt, ct of a triangle's angles have equal sum and product.
    found = Fraction(b * c, b * c + a * (a + b + c))
    require(found.denominator > 9)
    return found


@question('precalculus', level=4)
def two_mirror_lines(
    m=distinct(of=(-4, -3, -2, 2, 3, 4, 5)),
    n=distinct(of=(-4, -3, -2, 2, 3, 4, 5)),
    x=one_of(*NONZERO),
    y=one_of(*NONZERO),
):
    """The point $(<x>, <y>)$ is reflected in the line $y = <m>x$, and its image is then reflected
    in the line $y = <n>x$. Where is the second image? Answer with an ordered pair of common
    fractions in lowest terms.

    先作点 $(<x>, <y>)$ 关于直线 $y = <m>x$ 的对称点，再作所得的点关于直线 $y = <n>x$ 的对称点。
    求最后得到的点的坐标，答案写成由两个最简分数组成的有序数对。
    """
    # The two reflections turn by twice the angle from the first line to the second. The quotient
    # of the lines' directions, 1 + ni by 1 + mi, is a multiple of:
    real, imaginary = 1 + m * n, n - m
    cosine, sine = real**2 - imaginary**2, 2 * real * imaginary
    size = real**2 + imaginary**2
    image = Fraction(x * cosine - y * sine, size), Fraction(x * sine + y * cosine, size)
    require(all(coordinate.denominator > 4 for coordinate in image))
    return image


@question('precalculus', level=4)
def skew_lines_apart(
    u=several(3, one_of(-3, -2, -1, 1, 2, 3)),
    v=several(3, one_of(-3, -2, -1, 1, 2, 3)),
    q=several(3, span(1, 6)),
):
    """For real numbers $s$ and $t$, the points $t<u>$ form one line in space, and the points $<q> +
    s<v>$ another one. Find the distance between the two lines. Answer in simplest radical form.

    当 $s$、$t$ 取遍全体实数时，点 $t<u>$ 构成空间中的一条直线，点 $<q> + s<v>$ 构成另一条直线。
    求这两条直线之间的距离，答案写成最简根式（分母有理化）。
    """
    (a, b, c), (d, e, f) = u, v
    normal = b * f - c * e, c * d - a * f, a * e - b * d
    # The distance is what the normal of both directions sees of a way between the lines.
    seen, square = abs(dot(normal, q)), dot(normal, normal)
    require(square < 100 and isqrt(square) ** 2 != square and seen**2 % square > 0)
    return seen / root(square)


@question('precalculus', level=5)
def shell_of_segments(
    below=span(3, 7), above=span(1, 'below - 1'), start=span(5, 12), m=span(2, 5)
):
    r"""The outline of a shell is drawn as a chain of infinitely many straight segments. The first
    segment is $<start>$ cm long, and each later one is $\frac{1}{<m>}$ as long as the one before
    it. At each joint, the drawing pen changes its direction by the same acute angle $\alpha$,
    always to the left, and $\cos \alpha = <Fraction(above, below)>$. What is the area, in square
    centimetres, of the square whose side reaches from the start of the chain to the point to which
    it converges? Answer with a common fraction in lowest terms.

    一个贝壳的轮廓由无穷多条依次相连的线段画成。第一条线段长 $<start>$ 厘米，
    以后每一条的长度都是前一条的 $\frac{1}{<m>}$。在每个连接点处，
    画笔的方向总是向左偏转同一个锐角 $\alpha$，且 $\cos \alpha = <Fraction(above, below)>$。
    以这条折线的起点与它所趋近的极限点之间的线段为边作正方形，该正方形的面积是多少平方厘米？
    答案写成最简分数。
    """
    # In the complex plane, the way is the geometric series of z/m with z = cos x + i sin x, and
    # |m - z|^2 = m^2 - 2m cos x + 1.
    found = (start * m) ** 2 / (m * m + 1 - 2 * m * Fraction(above, below))
    require(found.denominator > 1)
    return found


@question('precalculus', level=5)
def tower_from_three_angles(
    ways=one_of((3, 2), (3, 4), (3, 5), (5, 3), (6, 5), (9, 7), (12, 7)), scale=span(3, 12)
):
    r"""A tower stands upright beside a straight road, on level ground. From three points $A$, $B$
    and $C$ on the road, in this order, with $AB = <scale * ways[0]>$ metres and $BC =
    <scale * ways[1]>$ metres, its top appears at angles of $30^\circ$, $45^\circ$ and $60^\circ$
    above the horizontal, respectively. How many metres high is the tower? Answer in simplest
    radical form.

    一座塔直立在平地上一条笔直公路的旁边。公路上依次有 $A$、$B$、$C$ 三点，
    $AB = <scale * ways[0]>$ 米，$BC = <scale * ways[1]>$ 米。在 $A$、$B$、
    $C$ 处望塔顶的仰角分别为 $30^\circ$、$45^\circ$、$60^\circ$。塔高多少米？答案写成最简根式。
    """
    u, v = ways  # that make the square of the height whole, and keep the tower off the road
    # In terms of the height h the foot is h sqrt(3), h and h / sqrt(3) away. By Stewart's theorem,
    # 3 h^2 v + h^2 u / 3 = (u + v)(h^2 + uv).
    return scale * root(3 * (u + v) * u * v // (6 * v - 2 * u))


@question('precalculus', level=5)
def sine_meets_cosine(a=span(5, 30), b=span(2, 25)):
    r"""How many different real numbers $x$ with $0 \le x < 2\pi$ satisfy the equation $\sin <a>x =
    \cos <b>x$?

    在 $0 \le x < 2\pi$ 的范围内，满足方程 $\sin <a>x = \cos <b>x$ 的不同实数 $x$ 有多少个？
    """
    require(b < a)
    # ax + bx or ax - bx is a quarter turn, up to full turns; what is both counts once.
    turns = {Fraction(4 * turn + 1, 4 * n) for n in (a + b, a - b) for turn in range(n)}
    require(len(turns) < 2 * a)
    return len(turns)


@question('precalculus', level=5)
def farthest_on_unit_circle(p=either_sign(2, 7), m=span(2, 9)):
    """Among all complex numbers $z$ with $|z| = 1$, what is the greatest value of $|z^2 <+p>z -
    <m>|$? Give it exactly, in simplest radical form where it is irrational.

    在所有满足 $|z| = 1$ 的复数 $z$ 中，$|z^2 <+p>z - <m>|$ 的最大值是多少？给出精确值，
    若为无理数则写成最简根式。
    """
    # |z^2 + pz - m|^2 is (1 + m)^2 + p^2 + 2p(1 - m)c - 4mc^2, c being the real part of z. At the
    # vertex, which must be between -1 and 1, this is (1 + m)^2 (1 + p^2 / 4m).
    require(abs(p) * (m - 1) < 4 * m)
    return (m + 1) * root(1 + Fraction(p * p, 4 * m))
