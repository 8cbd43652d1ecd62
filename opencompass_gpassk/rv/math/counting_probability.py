"""Counting and probability: choices, arrangements, chances, expected values."""

import math
from fractions import Fraction

from opencompass_gpassk.rv.question import distinct, one_of, question, require, span


@question('counting and probability', level=1)
def meal_with_or_without_dessert(soups=span(3, 9), mains=span(5, 20), desserts=span(3, 9)):
    """A menu lists $<soups>$ soups, $<mains>$ main dishes and $<desserts>$ desserts. A guest orders
    one soup, one main dish and at most one dessert. How many different meals are possible?

    菜单上有 $<soups>$ 种汤、$<mains>$ 种主菜和 $<desserts>$ 种甜点。
    一位客人点一种汤、一种主菜，并且最多点一种甜点。一共有多少种不同的点法？
    """
    # To take no dessert is one choice more.
    return soups * mains * (desserts + 1)


@question('counting and probability', level=2)
def greetings_across_teams(a=distinct(6, 20), b=distinct(6, 20), c=distinct(6, 20)):
    """Three teams of $<a>$, $<b>$ and $<c>$ players meet. Everybody shakes hands once with each
    player of the other two teams, but with nobody on their own team. How many handshakes are there?

    三支球队分别有 $<a>$ 名、$<b>$ 名和 $<c>$ 名队员。每名队员与另外两队的每名队员各握手一次，
    但不与本队的人握手。一共握手多少次？
    """
    return a * b + b * c + c * a


@question('counting and probability', level=2)
def jury_of_both_guilds(painters=span(4, 12), potters=span(4, 12)):
    """A jury of $3$ people is chosen from $<painters>$ painters and $<potters>$ potters. Nobody is
    both. In how many ways can this be done if the jury must include at least one painter and at
    least one potter?

    由 $3$ 人组成的评委会要从 $<painters>$ 名画家和 $<potters>$ 名陶艺家中选出，
    没有人既是画家又是陶艺家。如果评委会中至少要有一名画家和一名陶艺家，一共有多少种选法？
    """
    # All choices, less those from one side alone.
    return math.comb(painters + potters, 3) - math.comb(painters, 3) - math.comb(potters, 3)


@question('counting and probability', level=3)
def highest_of_three_spins(sectors=span(7, 20), highest=span(4, 'sectors - 1')):
    """A fair wheel of fortune has $<sectors>$ equal sectors, numbered from $1$ to $<sectors>$. It
    is spun three times. What is the probability that the highest of the three numbers is exactly
    $<highest>$? Answer with a common fraction in lowest terms.

    一个均匀的幸运转盘分成 $<sectors>$ 个相等的扇形，编号为 $1$ 到 $<sectors>$。转动转盘三次，
    三个号码中最大的恰好是 $<highest>$ 的概率是多少？答案写成最简分数。
    """
    # The highest is k if all are at most k, but not all at most k - 1.
    chance = Fraction(highest**3 - (highest - 1) ** 3, sectors**3)
    require(chance.denominator > 99)
    return chance


@question('counting and probability', level=3)
def cubic_term_of_power(a=span(2, 9), sign=one_of('-', '+'), b=span(2, 9)):
    r"""What is the coefficient of $x^3$ when $\left(<a>x^3 <sign> \frac{<b>}{x}\right)^5$ is
    multiplied out and like terms are combined?

    把 $\left(<a>x^3 <sign> \frac{<b>}{x}\right)^5$ 展开并合并同类项，$x^3$ 的系数是多少？
    """
    require(math.gcd(a, b) == 1)
    # The cubic term takes two factors of the first kind and three of the second.
    coefficient = math.comb(5, 2) * a**2 * b**3
    return -coefficient if sign == '-' else coefficient


@question('counting and probability', level=4)
def lanterns_on_a_ring(hooks=span(13, 36), gap=span(2, 5)):
    """$<hooks>$ numbered hooks are placed in a circle. In how many ways can $3$ identical lanterns
    be hung on three of the hooks if, all around the circle, at least $<gap>$ free hooks must
    separate any two lanterns?

    $<hooks>$ 个编了号的挂钩排成一圈。要把 $3$ 盏相同的灯笼挂在其中三个挂钩上，
    使得沿圆圈任意两盏灯笼之间至少隔着 $<gap>$ 个空挂钩。一共有多少种挂法？
    """
    require(hooks >= 3 * gap + 7)
    # From one of the lanterns on, the free hooks left over are shared out among three gaps. Any of
    # the three lanterns could be the first one, on any hook.
    spare = hooks - 3 - 3 * gap
    return hooks * math.comb(spare + 2, 2) // 3


@question('counting and probability', level=4)
def second_from_the_same_bag(a=span(2, 8), b=span(2, 8), c=span(2, 8), d=span(2, 8)):
    """One bag holds $<a>$ red and $<b>$ green marbles, another $<c>$ red and $<d>$ green ones. The
    toss of a fair coin decides from which bag two marbles are drawn, one after the other and
    without replacement. The first is red. What is the probability that the second is red, too?
    Answer with a common fraction in lowest terms.

    一个袋中有 $<a>$ 个红球和 $<b>$ 个绿球，另一个袋中有 $<c>$ 个红球和 $<d>$ 个绿球。
    掷一枚均匀硬币决定用哪个袋子，然后从这个袋中不放回地先后取出两个球。已知第一个是红球，
    求第二个也是红球的概率，答案写成最简分数。
    """
    # P(second red | first red) is P(both red) / P(first red), each over both bags.
    m, n = a + b, c + d
    both = Fraction(a * (a - 1), m * (m - 1)) + Fraction(c * (c - 1), n * (n - 1))
    chance = both / (Fraction(a, m) + Fraction(c, n))
    require(20 < chance.denominator < 1000)
    return chance


@question('counting and probability', level=4)
def ferries_at_one_pier(
    window=one_of(60, 72, 80, 90, 96, 100),
    first=span(10, 30, step=2),
    second=span(10, 30, step=5),
):
    """Two ferries, A and B, use the same pier, which has room for only one of them. They arrive at
    independent, uniformly random moments within the same $<window>$-minute period. Ferry A stays at
    the pier for $<first>$ minutes, ferry B for $<second>$ minutes. What is the probability that the
    ferry that arrives later finds the pier occupied by the other? Answer with a common fraction in
    lowest terms.

    甲、乙两艘渡轮使用同一个只能停一艘船的码头，到达时刻相互独立，
    且在同一段 $<window>$ 分钟的时间内均匀分布。甲船在码头停 $<first>$ 分钟，
    乙船停 $<second>$ 分钟。后到的渡轮到达时，另一艘仍停在码头的概率是多少？答案写成最简分数。
    """
    require(first != second)
    # The arrivals are a point of a square; outside a band along its diagonal, nobody waits.
    apart = (window - first) ** 2 + (window - second) ** 2
    chance = 1 - Fraction(apart, 2 * window**2)
    require(9 < chance.denominator < 1000)
    return chance


@question('counting and probability', level=5)
def blocks_of_one_colour(green=span(3, 12), yellow=span(3, 12)):
    """$<green>$ green and $<yellow>$ yellow flags are hung in a row in random order. A block is a
    group of neighbouring flags of one colour that is as long as possible; it may be a single flag.
    What is the expected number of blocks? Answer with a common fraction in lowest terms.

    把 $<green>$ 面绿旗和 $<yellow>$ 面黄旗按随机顺序挂成一排。
    相邻的同色旗连成的、不能再延长的一组称为一段，一段可以只有一面旗。段数的数学期望是多少？
    答案写成最简分数。
    """
    flags = green + yellow
    # A new block begins at the first flag and wherever neighbours differ; expectations add up.
    differ = Fraction(2 * green * yellow, flags * (flags - 1))
    blocks = 1 + (flags - 1) * differ
    require(blocks.denominator > 1)
    return blocks


@question('counting and probability', level=5)
def candles_on_a_wreath(red=span(3, 16), white=span(3, 16)):
    """Around a wreath that lies flat on a table, $<red>$ identical red candles and $<white>$
    identical white candles are placed at equal distances. Two arrangements count as the same if
    rotating the wreath takes one to the other; the wreath must not be flipped over. How many
    different arrangements are there?

    把 $<red>$ 支相同的红蜡烛和 $<white>$ 支相同的白蜡烛等距离地插在一个平放在桌上的花环上。
    转动花环后能够重合的两种插法算作同一种；花环不能翻面。
    一共有多少种不同的插法？
    """
    from sympy import divisors, totient

    places, common = red + white, math.gcd(red, white)
    require(7 <= places <= 22 and common > 1)
    # Burnside: phi(d) of the turns keep only arrangements that repeat one d-th of the wreath.
    kept = (totient(d) * math.comb(places // d, red // d) for d in divisors(common))
    return int(sum(kept)) // places


@question('counting and probability', level=5)
def until_two_hits_in_a_row(below=span(3, 20), above=span(1, 'below - 1')):
    """Each arrow of an archer hits the target with probability $<Fraction(above, below)>$,
    independently of the others. She shoots until she has hit the target with two arrows in a row.
    What is the expected number of arrows that she shoots? Answer with a common fraction in lowest
    terms.

    一名射手每一箭射中靶子的概率都是 $<Fraction(above, below)>$，各箭相互独立。
    她一直射到连续两箭都射中为止。她射出的箭数的数学期望是多少？答案写成最简分数。
    """
    p = Fraction(above, below)
    require(p > Fraction(1, 4) and p.numerator > 1)
    # E = 1 + p F + (1 - p) E with F = 1 + (1 - p) E gives E = (1 + p) / p^2.
    return (1 + p) / p**2
