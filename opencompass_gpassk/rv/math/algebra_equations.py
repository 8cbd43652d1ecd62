"""Algebra: equations, systems, inequalities, absolute values, and stories that lead to them."""

from fractions import Fraction

from opencompass_gpassk.rv.question import distinct, either_sign, question, require, span


@question('algebra', level=1)
def linear_for_x(factor=span(2, 9), added=span(1, 20), x=span(2, 15)):
    """Solve $<factor>x + <added> = <factor * x + added>$ for $x$.

    解关于 $x$ 的方程 $<factor>x + <added> = <factor * x + added>$。
    """
    return x


@question('algebra', level=2)
def brackets_on_both_sides(p=either_sign(1, 12), q=either_sign(1, 12), a=span(4, 9), b=span(2, 7)):
    """Solve $<a>(x <+p>) = <b>(x <+q>)$ for $x$. Answer with a common fraction in lowest terms.

    解关于 $x$ 的方程 $<a>(x <+p>) = <b>(x <+q>)$，答案写成最简分数。
    """
    require(b < a - 1 and (b * q - a * p) % (a - b))
    return Fraction(b * q - a * p, a - b)


@question('algebra', level=2)
def pair_of_linears(
    a=span(2, 7),
    b=span(2, 7),
    c=span(2, 7),
    d=span(2, 7),
    x=either_sign(1, 9),
    y=either_sign(1, 9),
):
    """Solve the system $<a>x + <b>y = <a*x + b*y>$ and $<c>x - <d>y = <c*x - d*y>$. Answer with the
    ordered pair $(x, y)$.

    解方程组 $<a>x + <b>y = <a*x + b*y>$，$<c>x - <d>y = <c*x - d*y>$，答案写成有序数对 $(x, y)$。
    """
    return x, y


@question('algebra', level=3)
def yard_of_wheels(cars=span(4, 20), tricycles=span(6, 40)):
    """In a yard there are $<3*cars + tricycles>$ vehicles: bicycles, tricycles and cars, with
    $<8*cars + 3*tricycles>$ wheels altogether. A bicycle has $2$ wheels, a tricycle $3$ and a car
    $4$. There are twice as many bicycles as cars. How many tricycles are there?

    院子里有自行车、三轮车和汽车共 $<3*cars + tricycles>$ 辆，
    一共有 $<8*cars + 3*tricycles>$ 个车轮。自行车有 $2$ 个车轮，三轮车有 $3$ 个，
    汽车有 $4$ 个。自行车的辆数是汽车的两倍。三轮车有多少辆？
    """
    return tricycles


@question('algebra', level=3)
def bars_against_a_line(a=span(1, 25), b=either_sign(1, 15)):
    """Find all real numbers $x$ with $|2x - <a>| = x <+b>$. List them as integers or fractions in
    lowest terms, separated by commas.

    求所有满足 $|2x - <a>| = x <+b>$ 的实数 $x$，答案写成整数或最简分数，用逗号隔开。
    """
    require(a + 2 * b > 0)
    # Either 2x - a = x + b or a - 2x = x + b; both count if x + b is not negative.
    return [Fraction(a - b, 3), Fraction(a + b)]


@question('algebra', level=4)
def bars_within_bars(a=span(1, 20), b=span(22, 45), c=span(6, 20)):
    r"""How many integers $x$ satisfy $\bigl| |3x - <a>| - <b> \bigr| \le <c>$?

    有多少个整数 $x$ 满足 $\bigl| |3x - <a>| - <b> \bigr| \le <c>$？
    """
    # With c < b, 3x - a lies from b - c to b + c, or from -b - c to c - b.
    low, high = b - c, b + c
    spans = [(a + low, a + high), (a - high, a - low)]
    return sum(end // 3 - (start - 1) // 3 for start, end in spans)


@question('algebra', level=4)
def twice_watered(k=span(1, 4), m=span(7, 13), n=span(4, 10)):
    """A cask holds $<k*m*m>$ litres of cider. Some of it is drawn off, the same amount of water is
    poured in, and the mixture is stirred well. Then the same amount as before is drawn off again
    and replaced by water. Now $<k*n*n>$ litres of cider are left in the cask. How many litres were
    drawn off each time?

    一只木桶里装有 $<k*m*m>$ 升苹果酒。先放出一部分，再倒入同样多的水并搅匀；
    然后再放出与上次同样多的液体，并用水补满。这时桶里还剩 $<k*n*n>$ 升苹果酒。每次放出多少升？
    """
    # Neither nearly all of the cider is drawn off nor nearly none.
    require(m * m < 8 * n * n < 6 * m * m)
    # Each time the share n/m of the cider stays.
    return k * m * (m - n)


@question('algebra', level=5)
def multiple_of_its_fraction(a=span(5, 12), b=span(2, 12)):
    r"""Let $\lfloor x \rfloor$ be the greatest integer less than or equal to $x$. What is the sum
    of all real numbers $x$ for which $x = <a>(x - \lfloor x \rfloor) + <b>$? Answer with an integer
    or a common fraction in lowest terms.

    记 $\lfloor x \rfloor$ 为不大于 $x$ 的最大整数。
    求满足 $x = <a>(x - \lfloor x \rfloor) + <b>$ 的所有实数 $x$ 的和，答案写成整数或最简分数。
    """
    # With x = n + f, (a - 1)f = n - b is one of the integers from 0 to a - 2.
    return sum((b + j + Fraction(j, a - 1) for j in range(a - 1)), Fraction(0))


@question('algebra', level=5)
def robots_in_a_corridor(west=span(45, 95), east=span(20, 99)):
    """Two robots start at the same moment from the two ends of a straight corridor and drive
    towards each other, each at its own constant speed. At an end of the corridor they turn back at
    once without losing time. They first meet at a point $<west>$ m from the west end; their next
    meeting is at a point $<east>$ m from the east end, after each has turned back exactly once. How
    many metres long is the corridor?

    两个机器人同时从一条笔直走廊的两端出发，相向而行，各自速度不变，
    到达走廊一端后立即掉头，不耽搁时间。它们第一次相遇处离西端 $<west>$ 米；
    在各自恰好掉头一次之后，它们再次相遇，相遇处离东端 $<east>$ 米。走廊长多少米？
    """
    # Else the faster robot overtakes the slower one before they meet head-on again.
    require(2 * east < 3 * west and east != west)
    # Up to the first meeting they go one length together, up to the second three lengths.
    return 3 * west - east


@question('algebra', level=5)
def three_locked_pairs(x=distinct(3, 12), y=distinct(3, 12), z=distinct(3, 12)):
    """The positive real numbers $x$, $y$ and $z$ satisfy $xy + 2x + 2y = <x*y + 2*x + 2*y>$,
    $yz + 2y + 2z = <y*z + 2*y + 2*z>$ and $zx + 2z + 2x = <z*x + 2*z + 2*x>$. What is $x + y + z$?

    正实数 $x$、$y$、$z$ 满足 $xy + 2x + 2y = <x*y + 2*x + 2*y>$，
    $yz + 2y + 2z = <y*z + 2*y + 2*z>$，$zx + 2z + 2x = <z*x + 2*z + 2*x>$。求 $x + y + z$。
    """
    return x + y + z
