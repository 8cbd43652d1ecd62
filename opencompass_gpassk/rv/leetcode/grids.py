"""Geometry on grids: rectangles, lattice points, squares of dots, stacked cubes, mirrors."""

from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import gcd, isqrt

from opencompass_gpassk.rv.question import one_of, question, require, several, span


def turn(a, b, c):
    """Return twice the area of the triangle of three points, positive if it turns to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@question('figures', level='easy')
def diagonal_shortcuts(stops=several(5, several(2, span(-12, 12)))):
    """In one step a robot moves from a point $(x, y)$ with integer coordinates to one of its eight
    neighbours: $x$ and $y$ each stay or change by $1$, and at least one of them changes. It visits
    the points <listed(stops)> in this order, starting at the first of them. What is the smallest
    number of steps in which it can reach the last?

    一个机器人每一步从整点 $(x, y)$ 走到它的八个相邻整点之一：$x$ 和 $y$ 各自不变或改变 $1$，
    且至少有一个改变。它从 $<stops[0]>$ 出发，依次经过 <listed(stops[1:4])>，最后到达 $<stops[4]>$。
    它最少要走多少步？
    """
    # With diagonal steps a leg takes as many steps as its longer side.
    return sum(max(abs(a - c), abs(b - d)) for (a, b), (c, d) in pairwise(stops))


@question('figures', level='easy')
def dipped_towers(
    front=several(3, span(1, 9)), middle=several(3, span(1, 9)), back=several(3, span(1, 9))
):
    r"""Unit cubes are stacked in nine towers that stand side by side without gaps on a $3 \times 3$
    grid. From left to right, the towers of the front row are <listed(front)> cubes high, those of
    the middle row <listed(middle)>, and those of the back row <listed(back)> (a tower of height $1$
    is a single cube). The cubes are glued together, and the whole body is dipped in paint so that
    its entire surface, including the bottom, is coloured. How many unit squares are coloured?

    用单位立方体在 $3 \times 3$ 的方格上堆成九座紧挨着、中间不留空隙的塔。从左到右，
    前排各塔的高度依次是 <listed(front)> 个立方体，中排依次是 <listed(middle)> 个，
    后排依次是 <listed(back)> 个（高度为 $1$ 的塔就是一个立方体）。把这些立方体粘在一起，
    再把整个立体浸入颜料，使包括底面在内的全部表面都涂上颜色。一共有多少个单位正方形被涂上颜色？
    """
    # A tower shows its top, its bottom and, to each neighbour, the difference in height.
    rows = (front, middle, back)
    lines = [(0, *line, 0) for line in (*rows, *zip(*rows, strict=True))]
    return 18 + sum(abs(one - other) for line in lines for one, other in pairwise(line))


@question('figures', level='easy')
def widest_triangle(points=several(5, several(2, span(0, 12)))):
    """Five points are given: <listed(points)>. What is the largest area of a triangle with its
    three vertices among them? Answer with an integer or a common fraction in lowest terms.

    给定五个点 <listed(points)>。以其中三个点为顶点的三角形面积最大是多少？答案写成整数或最简分数。
    """
    answer = Fraction(max(abs(turn(*corners)) for corners in combinations(points, 3)), 2)
    require(len(set(points)) == 5 and answer >= 15)
    return answer


@question('figures', level='medium')
def mirrored_box(common=span(2, 9), length=span(5, 17), width=span(5, 17)):
    r"""The four walls of a flat rectangular box, $<common * length>$ cm long and $<common * width>$
    cm wide, are mirrors. A ray of light enters the box at one corner, at an angle of $45^\circ$ to
    the walls. It is reflected whenever it hits a wall, until it reaches a corner, where it ends.
    How many times is it reflected before that?

    一个扁平的长方形盒子长 $<common * length>$ 厘米，宽 $<common * width>$ 厘米，四壁都是镜面。
    一束光从盒子的一个角沿与盒壁成 $45^\circ$ 角的方向射入盒内，每次碰到盒壁就反射，
    直到射入某个角为止。在此之前它一共反射了多少次？
    """
    # Unfolded, the beam crosses the lines of a lattice until both sides divide its way.
    answer = (length + width) // gcd(length, width) - 2
    require(length > width and answer >= 8)
    return answer


@question('figures', level='medium')
def dots_inside_triangle(corners=several(3, several(2, span(0, 20)))):
    """A triangle has its vertices at <listed(corners)>. How many points with integer coordinates
    lie strictly inside it (neither on a side nor at a vertex)?

    一个三角形的顶点是 <listed(corners)>。严格位于它内部（不在边上，也不是顶点）的整点有多少个？
    """
    require(abs(turn(*corners)) >= 80)
    # Pick: twice the area is twice the inner points plus the points on the sides minus 2.
    border = sum(gcd(c - a, d - b) for (a, b), (c, d) in pairwise((*corners, corners[0])))
    return (abs(turn(*corners)) - border) // 2 + 1


@question('figures', level='medium')
def squares_on_dots(rows=span(4, 10), columns=span(6, 16)):
    """On a sheet, dots are printed in $<rows>$ rows and $<columns>$ columns; neighbouring dots of a
    row or of a column are $1$ cm apart. How many squares, in any position, tilted ones included,
    have all four corners on dots?

    一张纸上印着 $<rows>$ 行 $<columns>$ 列的点，同行或同列的相邻两点相距 $1$ 厘米。
    四个顶点都在这些点上的正方形（位置任意，包括倾斜的）有多少个？
    """
    require(rows < columns)
    # An upright frame of side k holds k squares, all but one of them tilted.
    return sum(k * (rows - k) * (columns - k) for k in range(1, rows))


@question('figures', level='medium')
def round_minus_diamond(square=span(50, 150), bound=span(3, 9)):
    r"""How many pairs $(x, y)$ of integers satisfy both $x^2 + y^2 \le <square>$ and
    $|x| + |y| > <bound>$?

    有多少个整数对 $(x, y)$ 同时满足 $x^2 + y^2 \le <square>$ 和 $|x| + |y| > <bound>$？
    """
    require((bound + 1) ** 2 <= square)
    # A disc is counted column by column; the diamond within it has k^2 + (k + 1)^2 points.
    radius = isqrt(square)
    disc = sum(2 * isqrt(square - x * x) + 1 for x in range(-radius, radius + 1))
    return disc - bound**2 - (bound + 1) ** 2


@question('figures', level='medium')
def three_posters(
    left=several(3, span(0, 6)),
    bottom=several(3, span(0, 6)),
    right=several(3, span(8, 15)),
    top=several(3, span(8, 15)),
):
    r"""Three rectangular posters are glued to a wall and overlap. The first covers the points $(x,
    y)$ with $<left[0]> \le x \le <right[0]>$ and $<bottom[0]> \le y \le <top[0]>$, the second those
    with $<left[1]> \le x \le <right[1]>$ and $<bottom[1]> \le y \le <top[1]>$, and the third those
    with $<left[2]> \le x \le <right[2]>$ and $<bottom[2]> \le y \le <top[2]>$. What is the area of
    the part of the wall that is covered by at least one poster?

    墙上贴着三张互相重叠的矩形海报，它们盖住的点 $(x, y)$ 分别满足：
    第一张 $<left[0]> \le x \le <right[0]>$，$<bottom[0]> \le y \le <top[0]>$；
    第二张 $<left[1]> \le x \le <right[1]>$，$<bottom[1]> \le y \le <top[1]>$；
    第三张 $<left[2]> \le x \le <right[2]>$，$<bottom[2]> \le y \le <top[2]>$。
    墙上至少被一张海报盖住的面积是多少？
    """
    posters = list(zip(left, bottom, right, top, strict=True))
    require(
        not any(
            a <= e and b <= f and c >= g and d >= h  # one poster covers the other
            for (a, b, c, d), (e, f, g, h) in permutations(posters, 2)
        )
    )
    area = 0  # of all, less the overlaps of two, plus the overlap of all three
    for size in (1, 2, 3):
        for some in combinations(posters, size):
            lefts, bottoms, rights, tops = zip(*some, strict=True)
            area -= (-1) ** size * (min(rights) - max(lefts)) * (min(tops) - max(bottoms))
    return area


@question('figures', level='hard')
def cubes_between_views(front=several(3, span(2, 9)), side=several(3, span(2, 9))):
    r"""Unit cubes are stacked in towers on the nine squares of a $3 \times 3$ board; some squares
    may stay empty. Seen from the front, the tallest towers of the three columns of the board are
    <listed(front)> cubes high (from left to right). Seen from the left side, the tallest towers of
    the three rows are <listed(side)> cubes high (from the back row to the front row). How many
    different values are possible for the total number of cubes?

    在 $3 \times 3$ 棋盘的九个方格上用单位立方体堆成一座座塔，有些方格可以空着。从前面看，
    棋盘三列中最高的塔的高度（从左到右）依次是 <listed(front)> 个立方体；从左侧看，
    三行中最高的塔的高度（从后排到前排）依次是 <listed(side)> 个立方体。
    立方体的总数有多少种不同的可能值？
    """
    require(max(front) == max(side) and sorted(front) != sorted(side))
    # Towers of equal height share the two views; at most, each is as high as both views allow.
    most = sum(min(one, other) for one in front for other in side)
    fewest = sum(h * max(front.count(h), side.count(h)) for h in range(1, max(front) + 1))
    return most - fewest + 1


@question('figures', level='hard')
def tiles_under_circle(
    tiles=one_of(5, 10, 13, 15, 17, 20, 25, 26, 29, 30, 34, 35, 37, 39, 40, 41), tile=span(2, 9)
):
    """A large floor is laid with square tiles of side $<tile>$ cm in straight rows and columns.
    Around a point where four tiles meet, a circle of radius $<tile * tiles>$ cm is drawn with a
    fine pen. How many tiles does its line run through? (Tiles that the line only touches at a
    corner or at an edge do not count.)

    一大片地面用边长为 $<tile>$ 厘米的正方形瓷砖整齐地铺成行和列。以某四块瓷砖的公共顶点为圆心，
    画一个半径为 $<tile * tiles>$ 厘米的圆（线的粗细忽略不计）。这个圆的圆周穿过多少块瓷砖的内部？
    （只在角上或边上与圆周接触的瓷砖不算。）
    """
    # The circle changes tiles at each line it crosses, and at a corner crosses two at once.
    legs = [isqrt(tiles * tiles - x * x) for x in range(1, tiles)]
    corners = 4 * sum(x * x + y * y == tiles * tiles for x, y in enumerate(legs, 1))
    return 4 * (2 * tiles - 1) - corners


@question('figures', level='hard')
def band_around_nails(nails=several(8, several(2, span(0, 14)))):
    """Eight thin nails are driven into a board with a coordinate grid of unit $1$ cm, at
    <listed(nails)>. A rubber band is stretched around all of them. What is the area, in square
    centimetres, that the band encloses, if nails and band are regarded as having no thickness?
    Answer with an integer or a common fraction in lowest terms.

    一块木板上画有单位长为 $1$ 厘米的坐标网格，在 <listed(nails)> 处钉着八枚细钉子。
    用一根橡皮筋把它们全部套住绷紧。不计钉子和橡皮筋的粗细，橡皮筋所围的面积是多少平方厘米？
    答案写成整数或最简分数。
    """
    # A nail on the way between two others would leave out this side.
    require(all(turn(*three) for three in combinations(nails, 3)))
    # A segment belongs to the hull if all other points are on its left; cross products add up.
    hull = [
        (a, b)
        for a, b in permutations(nails, 2)
        if all(turn(a, b, c) > 0 for c in nails if c not in (a, b))
    ]
    answer = Fraction(sum(a * d - b * c for (a, b), (c, d) in hull), 2)
    require(answer >= 40)
    return answer
