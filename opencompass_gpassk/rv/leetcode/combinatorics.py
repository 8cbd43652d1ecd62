"""Counting: walks, tilings, rows and arrangements under conditions."""

from math import comb, perm

from opencompass_gpassk.rv.question import question, require, rising, span


@question('counting', level='easy')
def planked_footbridge(length=span(9, 14), middle=rising(2, 6), long=rising(2, 6)):
    """A footbridge $<length>$ metres long is covered along its length by boards that are $1$ metre,
    $<middle>$ metres or $<long>$ metres long, laid end to end without gaps. Boards of one length
    are alike; not every length has to be used. How many different sequences of
    boards are possible, read from the north end of the bridge?

    一座长 $<length>$ 米的步行桥沿桥长方向铺木板，木板长 $1$ 米、$<middle>$ 米或 $<long>$ 米，
    首尾相接，不留空隙。长度相同的木板没有区别，也不必三种长度都用到。从桥的北端到南端依次看去，
    木板的铺法（按长度区分）共有多少种？
    """
    # The last board is one of the three: w(n) = w(n - 1) + w(n - middle) + w(n - long).
    ways = [1]
    for n in range(1, length + 1):
        ways.append(sum(ways[n - board] for board in (1, middle, long) if board <= n))
    return ways[length]


@question('counting', level='easy')
def rolls_in_three_baskets(rolls=span(20, 60), room=span(10, 40)):
    """A baker puts $<rolls>$ identical rolls into a red, a blue and a green basket, each of which
    has room for at most $<room>$ rolls; a basket may stay empty. Only the numbers of rolls in the
    baskets matter. How many different distributions are there?

    面包师把 $<rolls>$ 个相同的小面包放入红、蓝、绿三个篮子，每个篮子最多放 $<room>$ 个，
    也可以空着。只考虑各篮子中小面包的个数，共有多少种不同的放法？
    """
    require(room + 2 < rolls < 3 * room - 2)
    # Inclusion and exclusion over the baskets that got more than they hold.
    left = [rolls - over * (room + 1) for over in range(4)]
    return sum((-1) ** i * comb(3, i) * comb(n + 2, 2) for i, n in enumerate(left) if n >= 0)


@question('counting', level='medium')
def route_round_the_roadworks(east=span(5, 8), north=span(4, 7), x=span(1, 7), y=span(1, 6)):
    """The streets of a town form a grid whose crossings are the points with integer coordinates. A
    cyclist rides along streets from $(0, 0)$ to $(<east>, <north>)$, always in the direction of
    increasing $x$ or increasing $y$. The crossing $(<x>, <y>)$ is closed and cannot be passed
    through. How many routes can he choose from?

    某城的街道构成方格网，各路口是坐标为整数的点。
    一位骑车人沿街道从 $(0, 0)$ 骑到 $(<east>, <north>)$，总是朝 $x$ 增大或 $y$ 增大的方向行进。
    路口 $(<x>, <y>)$ 封闭，不得经过。他有多少条路线可选？
    """
    require(x < east and y < north)
    # Take the routes through the closed crossing away from all routes.
    through = comb(x + y, x) * comb(east + north - x - y, east - x)
    return comb(east + north, east) - through


@question('counting', level='medium')
def drummer_on_many_drums(drums=span(3, 9), beats=span(5, 8), most=span(2, 3)):
    """A drummer has $<drums>$ different drums and plays $<beats>$ beats, on each of which she
    strikes one drum. She may strike the same drum on up to $<most>$ successive beats, but never on
    more. Not every drum has to be used. How many different sequences of strokes can she play?

    一位鼓手有 $<drums>$ 面不同的鼓，她要打 $<beats>$ 拍，每拍敲其中一面鼓。
    同一面鼓最多可以连敲 $<most>$ 拍。不必每面鼓都用到。她可以打出多少种不同的敲击序列？
    """
    # By the length of the run that ends it: a new drum follows anything, the old one only a change.
    ways = [drums] + [0] * (most - 1)
    for _ in range(beats - 1):
        ways = [(drums - 1) * sum(ways), *ways[:-1]]
    return sum(ways)


@question('counting', level='medium')
def two_row_courtyard(length=span(5, 10), colours=span(2, 10)):
    r"""A strip of $2 \times <length>$ unit squares is paved without gaps or overlaps with slabs of
    $1 \times 2$, which may lie along or across the strip and are all grey, and with plates of $2
    \times 2$, each in one of $<colours>$ colours. Two pavings are different if a slab or a plate
    lies differently or a plate has another colour, even if one is the mirror image of the other.
    How many pavings are there?

    用砖铺满一个 $2 \times <length>$ 的长方形，不留空隙，也不重叠。砖有两种：$1 \times 2$ 的长砖，
    全为灰色，横放竖放均可；$2 \times 2$ 的方砖，每块为 $<colours>$ 种颜色之一。
    砖的位置或方砖的颜色只要有一处不同，就算不同的铺法，互为镜像的也算不同。共有多少种铺法？
    """
    # The last column is one upright slab, or two columns are two flat slabs or one plate.
    older, newer = 1, 1
    for _ in range(length - 1):
        older, newer = newer, newer + (1 + colours) * older
    return newer


@question('counting', level='medium')
def red_lantern_runs(red=span(4, 11), white=span(3, 10)):
    """A garland consists of $<red>$ red and $<white>$ white lanterns in a row; lanterns of one
    colour are alike. No three consecutive lanterns may all be red. How many different garlands are
    possible? They are compared from left to right: a garland and a different one that is its mirror
    image count as two.

    一串灯笼由 $<red>$ 个红灯笼和 $<white>$ 个白灯笼排成一行，同色的灯笼没有区别。
    不能有三个或三个以上的红灯笼连在一起。共有多少种不同的排法？
    互为左右翻转的两种排法（若本身不相同）算作两种。
    """
    require(red <= 2 * white)
    # The white ones leave gaps, before, between and after, each for no, one or two red ones.
    gaps = white + 1
    return sum(comb(gaps, twos) * comb(gaps - twos, red - 2 * twos) for twos in range(red // 2 + 1))


@question('counting', level='medium')
def safe_with_worn_keys(keys=span(5, 9), length=span(5, 8), worn=span(2, 4)):
    r"""The keypad of a safe has the keys $1, 2, \dots, <keys>$. A code is a sequence of $<length>$
    keys, in which keys may be repeated. The keys from $1$ to $<worn>$ are worn: each of them occurs
    in the code at least once. Nothing is known about the other keys. How many codes are possible?

    一个保险箱的键盘上有按键 $1, 2, \dots, <keys>$。密码是由 $<length>$ 个按键组成的序列，
    按键可以重复。从 $1$ 到 $<worn>$ 的按键有磨损：其中每个键在密码中至少出现一次。
    其余按键的情况未知。可能的密码有多少个？
    """
    # Inclusion and exclusion over which of the worn keys are missing.
    return sum((-1) ** i * comb(worn, i) * (keys - i) ** length for i in range(worn + 1))


@question('counting', level='medium')
def parcels_to_wrong_doors(parcels=span(6, 8), houses=span(8, 12), fragile=span(2, 5)):
    """A postman has $<parcels>$ parcels for a street of $<houses>$ houses, no two of them addressed
    to the same house; exactly $<fragile>$ of the parcels are fragile. Without reading the
    addresses, he leaves all the parcels at houses of the street, no two at the same house. In how
    many ways can he do so if no fragile parcel gets to the house it is addressed to, while each of
    the other parcels may or may not?

    邮递员有 $<parcels>$ 个包裹要送到一条有 $<houses>$ 座房子的街上，
    任意两个包裹都不寄往同一座房子；其中恰有 $<fragile>$ 个是易碎包裹。他不看地址，
    把所有包裹都送到这条街上的房子里，每座房子至多送一个。如果每个易碎包裹都送错了，
    其余包裹送对送错均可，那么共有多少种送法？（各包裹互不相同。）
    """
    # Inclusion and exclusion over the fragile parcels that come to the right house.
    return sum(
        (-1) ** right * comb(fragile, right) * perm(houses - right, parcels - right)
        for right in range(fragile + 1)
    )


@question('counting', level='hard')
def change_at_the_turnstile(exact=span(5, 10), double=span(4, 8), till=span(1, 3)):
    """Entry to a garden costs one crown. The queue consists of $<exact>$ visitors who each have a
    one-crown coin, and $<double>$ visitors who each have a two-crown coin and must be given back a
    one-crown coin at once. At the start the till holds <count(till, 'one-crown coin')> and no other
    coins. Coins paid in may be used as change. Visitors with the same coin are regarded as
    identical. In how many orders can they queue so that change can always be given at once?

    一座花园的门票为一克朗。排队的游客中有 $<exact>$ 人每人持一枚一克朗硬币，
    有 $<double>$ 人每人持一枚两克朗硬币，后者付款时必须立即从钱箱中找回一枚一克朗硬币。
    开始时钱箱里有 $<till>$ 枚一克朗硬币，没有其他硬币；游客付的硬币都放入钱箱，可以用来找零。
    持相同硬币的游客不加区分。有多少种排队顺序能使每次需要找零时都能立即找开？
    """
    require(till + 1 < double <= exact + till)
    # Reflect a queue that fails at the first lack of change: its ends are swapped one to one.
    return comb(exact + double, double) - comb(exact + double, double - till - 1)


@question('counting', level='hard')
def row_that_falls_twice(length=span(6, 9), first=span(1, 6), second=span(3, 8)):
    r"""The numbers from $1$ to $<length>$ are written in a row, each once, as $a_1, a_2, \dots,
    a_<length>$, so that $a_<first> > a_<first + 1>$ and $a_<second> > a_<second + 1>$, while at all
    other places $a_i < a_{i+1}$. How many such rows are there?

    将从 $1$ 到 $<length>$ 的数各用一次排成一行 $a_1, a_2, \dots, a_<length>$，
    使得 $a_<first> > a_<first + 1>$ 且 $a_<second> > a_<second + 1>$，
    而在其他位置都有 $a_i < a_{i+1}$。这样的排法有多少种？
    """
    require(first + 1 < second < length)
    # Rising blocks are a multinomial; take away those without a drop at one border or both.
    blocks = comb(length, second) * comb(second, first)
    return blocks - comb(length, first) - comb(length, second) + 1


@question('counting', level='hard')
def games_of_the_festival(games=span(4, 7), new=span(2, 4), evenings=span(6, 10)):
    """A club owns $<games>$ different board games, of which $<new>$ are new, and plans a festival
    of $<evenings>$ evenings, with one game on every evening. Each of the new games must be played
    at least once, while old ones may be left out, and no game may be played on two evenings in
    succession. A plan says which game is played on each evening. How many plans are there?

    某俱乐部有 $<games>$ 种不同的桌游，其中 $<new>$ 种是新的。
    俱乐部计划举办一个为期 $<evenings>$ 个晚上的游戏节，每晚玩一种桌游。每种新桌游至少要玩一次，
    旧桌游可以不玩，而任何一种桌游都不能在相邻的两个晚上玩。安排每晚玩哪种桌游的方案共有多少种？
    """
    # Plans without repeats from g games are g(g - 1)^(n - 1); exclude those that miss new games.
    return sum(
        (-1) ** out * comb(new, out) * (games - out) * (games - out - 1) ** (evenings - 1)
        for out in range(new + 1)
    )


@question('counting', level='hard')
def towers_seen_from_both_ends(towers=span(6, 10), left=span(2, 5), right=span(2, 5)):
    """In a row from west to east stand $<towers>$ towers of different heights. A tower hides all
    lower ones behind it. Looking along the row, one sees exactly $<left>$ towers from its west end
    and exactly $<right>$ from its east end. In how many orders can the towers stand?

    $<towers>$ 座高度各不相同的塔自西向东排成一行。一座塔会挡住它后面所有比它矮的塔。沿这一行望去，
    从西端恰好看到 $<left>$ 座塔，从东端恰好看到 $<right>$ 座塔。这些塔有多少种排列顺序？
    """
    require(left + right <= towers)
    # The lower towers form left + right - 2 cycles, whose heads are seen; choose which of them
    # stand west of the highest. Stirling numbers of the first kind count cycles.
    groups = left + right - 2
    cycles = [1] + [0] * groups
    for size in range(towers - 1):
        cycles = [size * c + before for before, c in zip([0, *cycles], cycles, strict=False)]
    return cycles[groups] * comb(groups, left - 1)
