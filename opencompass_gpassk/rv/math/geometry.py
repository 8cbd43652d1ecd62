"""Geometry: triangles, circles, polygons, folding, solids."""

from fractions import Fraction
from itertools import permutations
from math import isqrt

from opencompass_gpassk.rv.question import one_of, question, require, rising, span
from opencompass_gpassk.rv.wording import root

# Triangles with whole sides and area, and without an angle of 120 degrees or more.
HERON = [
    *[(4, 13, 15), (5, 12, 13), (5, 29, 30), (6, 8, 10), (7, 24, 25), (8, 15, 17), (8, 26, 30)],
    *[(9, 12, 15), (10, 17, 21), (10, 24, 26), (11, 13, 20), (11, 25, 30), (12, 16, 20)],
    *[(12, 17, 25), (13, 14, 15), (13, 20, 21), (15, 20, 25), (17, 25, 26), (17, 25, 28)],
    *[(18, 24, 30), (20, 21, 29)],
]


@question('geometry', level=1)
def angle_from_outside(at_a=span(20, 90), outside=span('at_a + 10', 165)):
    r"""In triangle $ABC$, the angle at $A$ measures $<at_a>^\circ$. Side $AB$ is extended beyond
    $B$ to a point $D$, and the angle $CBD$ measures $<outside>^\circ$. How many degrees does the
    angle at $C$ measure?

    在三角形 $ABC$ 中，$\angle A = <at_a>^\circ$。延长 $AB$ 到点 $D$，
    $\angle CBD = <outside>^\circ$。$\angle C$ 是多少度？
    """
    # An exterior angle is the sum of the two interior angles that are not next to it.
    return outside - at_a


@question('geometry', level=2)
def circle_round_rectangle(width=span(8, 40, 2), height=span(8, 40, 2)):
    r"""The four corners of a rectangle, $<width>$ wide and $<height>$ high, lie on a circle. What
    is the area of the region that lies inside the circle but outside the rectangle? Give it
    exactly, in terms of $\pi$.

    一个长 $<width>$、宽 $<height>$ 的长方形的四个顶点都在同一个圆上。圆内、
    长方形外的部分面积是多少？答案用含 $\pi$ 的式子精确表示。
    """
    require(width > height)
    # A diagonal of the rectangle is a diameter of the circle.
    return rf'{(width**2 + height**2) // 4}\pi - {width * height}'


@question('geometry', level=2)
def shadow_of_post(lamp=span(4, 12), post=span(2, 9), away=span(3, 20)):
    """A street lamp hangs $<lamp>$ metres above level ground. An upright post $<post>$ metres high
    stands $<away>$ metres from the point on the ground directly below the lamp. How many metres
    long is the post's shadow on the ground? Answer with a common fraction in lowest terms.

    一盏路灯离水平地面 $<lamp>$ 米。一根高 $<post>$ 米的柱子竖直立在地面上，
    离路灯正下方 $<away>$ 米。柱子在地面上的影子长多少米？答案写成最简分数。
    """
    require(post < lamp and away * post % (lamp - post))
    # The triangles above the post and behind it are similar.
    return Fraction(away * post, lamp - post)


@question('geometry', level=3)
def all_angles_but_one(corners=span(8, 40), missing=span(15, 165)):
    r"""All the interior angles of a convex polygon, except for one of them, add up to
    $<180 * (corners - 2) - missing>^\circ$. How many diagonals does the polygon have?

    一个凸多边形除去一个内角，其余各内角之和为 $<180 * (corners - 2) - missing>^\circ$。
    这个多边形有多少条对角线？
    """
    # All angles add up to a multiple of 180 degrees, which must be the next one.
    return corners * (corners - 3) // 2


@question('geometry', level=3)
def turned_about_hypotenuse(
    legs=one_of((3, 4), (5, 12), (8, 15), (7, 24), (20, 21), (12, 35), (9, 40), (28, 45)),
    scale=span(1, '120 // legs[1]'),
):
    r"""A right triangle with legs of $<scale * legs[0]>$ and $<scale * legs[1]>$ is turned through
    a full revolution about its hypotenuse. What is the volume of the solid that it sweeps out? Give
    it exactly, as a multiple of $\pi$ whose coefficient is an integer or a fraction in lowest
    terms.

    一个直角三角形的两条直角边长分别为 $<scale * legs[0]>$ 和 $<scale * legs[1]>$，
    将它绕斜边所在直线旋转一周，所得立体的体积是多少？答案精确地写成 $\pi$ 的倍数，
    系数为整数或最简分数。
    """
    import sympy

    a, b = legs
    require(scale * a > 4)
    # Two cones share a base, whose radius is the height on the hypotenuse; this is their axis.
    hypotenuse = isqrt(a * a + b * b)
    return Fraction(scale**3 * (a * b) ** 2, 3 * hypotenuse) * sympy.pi


@question('geometry', level=4)
def chord_cut_in_ratio(away=span(4, 20), gap=span(1, 8)):
    """A point $P$ lies at a distance of $<away>$ from the centre of a circle with radius
    $<away + 2 * gap>$. A chord of the circle passes through $P$, and $P$ divides it in the ratio $1
    : 2$. How long is the chord? Answer with an integer or in simplest radical form.

    点 $P$ 到圆心的距离为 $<away>$，圆的半径为 $<away + 2 * gap>$。
    过 $P$ 的一条弦被点 $P$ 分成 $1 : 2$ 的两段。这条弦的长是多少？答案写成整数或最简根式。
    """
    require(gap < away)  # such a chord can be drawn, and is no diameter
    # The parts x and 2x of a chord through P have the product radius^2 - away^2.
    return 3 * root(2 * gap * (away + gap))


@question('geometry', level=4)
def median_meets_bisector(
    ab=span(5, 15), ac=span(5, 15), area=span('ab * ac // 4', 'ab * ac // 2 - 1')
):
    r"""Triangle $ABC$ has area $<area>$, with $AB = <ab>$ and $AC = <ac>$. Let $M$ be the midpoint
    of $AC$. The bisector of the angle at $A$ meets the segment $BM$ at $P$. Find the area of
    triangle $ABP$. Answer with a common fraction in lowest terms.

    三角形 $ABC$ 的面积为 $<area>$，$AB = <ab>$，$AC = <ac>$。点 $M$ 是 $AC$ 的中点，
    $\angle A$ 的平分线交线段 $BM$ 于点 $P$。求三角形 $ABP$ 的面积，答案写成最简分数。
    """
    # AP bisects the angle of triangle ABM too, so BP : PM = AB : AM; ABM is half of ABC.
    found = Fraction(area * ab, 2 * ab + ac)
    require(ab != ac and found.denominator > 9)
    return found


@question('geometry', level=4)
def fold_corner_to_corner(width=span(10, 30), height=span(6, 25)):
    """A rectangular sheet of paper, $<width>$ long and $<height>$ wide, is folded flat once, so
    that two opposite corners coincide. What is the area of the part of the folded sheet that is two
    layers thick? Answer with a common fraction in lowest terms.

    一张长 $<width>$、宽 $<height>$ 的长方形纸片折叠一次并压平，使一组相对的顶点重合。
    折叠后有两层纸的重叠部分的面积是多少？答案写成最简分数。
    """
    # The doubled triangle has one side t on a long edge, with t^2 = (width - t)^2 + height^2.
    found = Fraction((width**2 + height**2) * height, 4 * width)
    require(height < width and found.denominator > 1)
    return found


@question('geometry', level=5)
def three_distances(distances=one_of(*(order for sides in HERON for order in permutations(sides)))):
    r"""A point $P$ inside an equilateral triangle $ABC$ is at distances $PA = <distances[0]>$, $PB
    = <distances[1]>$ and $PC = <distances[2]>$ from its vertices. Find the area of triangle $ABC$
    in the form $a + b\sqrt{3}$ with rational numbers $a$ and $b$.

    等边三角形 $ABC$ 内有一点 $P$，它到三个顶点的距离为 $PA = <distances[0]>$，
    $PB = <distances[1]>$，$PC = <distances[2]>$。求三角形 $ABC$ 的面积，
    写成 $a + b\sqrt{3}$ 的形式，其中 $a$、$b$ 是有理数。
    """
    a, b, c = distances
    # Turn the parts about the corners by 60 degrees: twice the area is that of three equilateral
    # triangles on PA, PB and PC and of three triangles with the sides PA, PB and PC.
    four_areas = isqrt((a + b + c) * (-a + b + c) * (a - b + c) * (a + b - c))
    return Fraction(a * a + b * b + c * c, 8) * root(3) + Fraction(3 * four_areas, 8)


@question('geometry', level=5)
def hexagon_of_two_lengths(a=span(2, 15), b=span(2, 15)):
    """The six vertices of a convex hexagon lie on a circle. The lengths of its sides are, in order,
    $<a>$, $<a>$, $<a>$, $<b>$, $<b>$ and $<b>$. Find the area of the hexagon. Answer in simplest
    radical form.

    一个凸六边形的六个顶点都在同一个圆上，它的边长依次为 $<a>$、$<a>$、$<a>$、$<b>$、$<b>$、$<b>$。
    求这个六边形的面积，答案写成最简根式。
    """
    require(a != b)
    # Put in the order a, b, a, b, a, b it has the same area, and all its angles are 120 degrees:
    # an equilateral triangle of side a + 2b with three corners of side b cut off.
    return Fraction((a + 2 * b) ** 2 - 3 * b * b, 4) * root(3)


@question('geometry', level=5)
def four_equal_faces(x=rising(2, 11), y=rising(2, 11), z=rising(2, 11)):
    r"""The four faces of a tetrahedron are congruent triangles with sides of length
    $\sqrt{<x*x + y*y>}$, $\sqrt{<x*x + z*z>}$ and $\sqrt{<y*y + z*z>}$. Find the volume of the
    tetrahedron. Answer with an integer or a common fraction in lowest terms.

    一个四面体的四个面是全等的三角形，三边长分别为 $\sqrt{<x*x + y*y>}$、$\sqrt{<x*x + z*z>}$、
    $\sqrt{<y*y + z*z>}$。求这个四面体的体积，答案写成整数或最简分数。
    """
    require(all(isqrt(n) ** 2 != n for n in (x * x + y * y, x * x + z * z, y * y + z * z)))
    # Its edges are the face diagonals of a box x by y by z, of which it fills a third.
    return Fraction(x * y * z, 3)
