"""Operations: the least number of moves, the cheapest exchange, what many moves lead to."""

import heapq
from itertools import accumulate
from math import gcd, isqrt

from opencompass_gpassk.rv.question import (
    distinct,
    one_of,
    question,
    require,
    rising,
    several,
    span,
)


@question('operations', level='easy')
def seconds_to_a_power(
    squaring=distinct(2, 9), multiplying=distinct(2, 9), exponent=span(50, 1500)
):
    """Mira starts with $x$. In each step she either squares the power of $x$ that she has, which
    takes $<squaring>$ seconds, or multiplies it by $x$, which takes $<multiplying>$ seconds. What
    is the least number of seconds in which she can get to $x^{<exponent>}$?

    米拉从 $x$ 开始，每一步或者把当前得到的幂平方，需要 $<squaring>$ 秒，或者把它乘以 $x$，
    需要 $<multiplying>$ 秒。她最少要多少秒才能得到 $x^{<exponent>}$？
    """
    seconds = [0, 0]  # to x^0 (unused), x^1, x^2, …
    for n in range(2, exponent + 1):
        multiplied = seconds[n - 1] + multiplying
        seconds.append(min(multiplied, seconds[n // 2] + squaring) if n % 2 == 0 else multiplied)
    return seconds[exponent]


@question('operations', level='easy')
def coupons_for_cocoa(paid=span(20, 400), coupons=span(3, 9)):
    """At a kiosk every cup of cocoa, even a free one, comes with a coupon, and $<coupons>$ coupons
    are exchanged for a free cup. Ned pays for $<paid>$ cups and exchanges coupons as long as he
    can. How many cups of cocoa does he get in all?

    一家小店每卖一杯热可可都附送一张券（免费的那杯也送），每 $<coupons>$ 张券可以免费换一杯。
    内德买了 $<paid>$ 杯，并且只要券够就一直换。他一共能得到多少杯热可可？
    """
    # A free cup costs its coupons but one, which it brings back; one coupon stays at last.
    return paid + (paid - 1) // (coupons - 1)


@question('operations', level='easy')
def cheap_diagonals(
    diagonal=span(3, 9), east=span(5, 30), north=span(5, 30), straight=span(10, 19)
):
    """A robot moves on the points of the plane with integer coordinates. A step to one of the four
    nearest points takes $<straight>$ seconds, a step to one of the four diagonally adjacent points
    takes only $<diagonal>$ seconds. What is the least number of seconds in which it gets from
    $(0, 0)$ to $(<east>, <north>)$?

    一个机器人在平面的整点上移动。走到四个最近的整点之一需要 $<straight>$ 秒，
    沿对角线走到四个斜向相邻的整点之一只需要 $<diagonal>$ 秒。
    它从 $(0, 0)$ 到 $(<east>, <north>)$ 最少需要多少秒？
    """
    require(abs(east - north) >= 5)
    # Diagonal zigzags make up for straight ways; a straight step is needed for parity alone.
    return max(east, north) * diagonal + (east + north) % 2 * (straight - diagonal)


@question('operations', level='easy')
def one_clerk_five_clients(minutes=several(5, distinct(3, 39))):
    """Five clients come to an office at the same moment; serving them takes <listed(minutes)>
    minutes respectively. The only clerk serves them one after another, without breaks, in an order
    of his choice. Each client stays in the office until he or she has been served. What is the
    least possible sum, in minutes, of the times that the five clients spend there?

    五位顾客同时来到一个服务窗口，办理业务分别需要 <listed(minutes)> 分钟。窗口只有一名办事员，
    他逐个为顾客办理，中间不休息，先后顺序由他安排。每位顾客办完自己的业务才离开。
    五位顾客在窗口停留的时间之和最少是多少分钟？
    """
    # Shortest first: the first one's time counts five times, the last one's once.
    return sum(accumulate(sorted(minutes)))


@question('operations', level='medium')
def paying_with_change(middle=span(6, 13), big=span(20, 45), price=span(120, 450)):
    """In a country there are coins worth $1$, $<middle>$ and $<big>$ crowns only. Ada has to pay Bo
    $<price>$ crowns. Both have plenty of coins of each kind, and Bo may give change. What is the
    least number of coins that change hands, the coins given as change included?

    某国只有面值为 $1$、$<middle>$ 和 $<big>$ 克朗的硬币。艾达要付给鲍勃 $<price>$ 克朗。
    两人的各种硬币都足够多，鲍勃可以找零。把找零的硬币也计算在内，双方一共最少要交付多少枚硬币？
    """
    require(big % middle > 1)
    least = price
    # Fewer than `big` middle coins, since `middle` big ones are worth as much as those; then the
    # big ones should come as near as they can.
    for middles in range(-big, big + 1):
        rest = price - middles * middle
        for bigs in (rest // big, rest // big + 1):
            least = min(least, abs(middles) + abs(bigs) + abs(rest - bigs * big))
    return least


@question('operations', level='medium')
def pails_at_the_well(small=span(5, 11), large=span(8, 18), wanted=span(2, 17)):
    """Two empty pails hold $<small>$ and $<large>$ litres. In one move one of them is filled up at
    the well, or emptied on the grass, or poured into the other one until the first is empty or the
    second is full. What is the least number of moves after which one of the pails contains exactly
    $<wanted>$ litres?

    两只空桶的容量分别为 $<small>$ 升和 $<large>$ 升。每一步可以在井边把其中一只桶装满，
    或者把一只桶里的水全部倒在草地上，或者把一只桶里的水倒入另一只桶，直到前者倒空或后者装满为止。
    最少经过多少步，能使其中一只桶里恰有 $<wanted>$ 升水？
    """
    require(wanted < large and small < large and gcd(small, large) == 1)
    require(wanted not in (small, large - small))

    def moves(source, target):
        """Count the moves if always the same pail is filled, and poured into the other."""
        here = there = made = 0
        while wanted not in (here, there):
            if here == 0:
                here = source
            elif there == target:
                there = 0
            else:
                here, there = max(here + there - target, 0), min(here + there, target)
            made += 1
        return made

    return min(moves(small, large), moves(large, small))


@question('operations', level='medium')
def bowls_of_marbles(first=span(10, 50), second=span(10, 50), moves=span(100, 999)):
    """A red bowl contains $<first>$ marbles and a green bowl contains $<second>$. In each move,
    marbles are taken from the fuller bowl and put into the other one, just enough to double the
    number of marbles in that other bowl. How many marbles does the red bowl contain after $<moves>$
    moves?

    红碗里有 $<first>$ 颗弹珠，绿碗里有 $<second>$ 颗。每一步从弹珠较多的碗里取出若干颗，
    放入另一只碗，恰使另一只碗里的弹珠数加倍。经过 $<moves>$ 步之后，红碗里有多少颗弹珠？
    """
    marbles = first + second
    require(marbles % 2)
    # Each move doubles the number in the first bowl modulo the number of all marbles.
    return first * pow(2, moves, marbles) % marbles


@question('operations', level='medium')
def odd_jumps(target=span(300, 5000)):
    r"""A cricket sits at $0$ on the number line. The lengths of its jumps are $1, 3, 5, 7, \dots$
    in this order, and it may make each jump to the left or to the right. What is the least number
    of jumps after which it can sit at $<target>$?

    一只蟋蟀停在数轴上的 $0$ 处。它各次跳跃的长度依次是 $1, 3, 5, 7, \dots$，每次可以向左跳，
    也可以向右跳。它最少跳多少次才能停在 $<target>$ 处？
    """
    # Turning jumps of total length s left shortens n^2 by 2s; s takes all values but 2, n^2 - 2.
    jumps = isqrt(target - 1) + 1
    while (jumps**2 - target) % 2 or jumps**2 - target == 4:
        jumps += 1
    return jumps


@question('operations', level='medium')
def merged_stacks(cards=several(5, distinct(5, 59))):
    """Five sorted stacks of <listed(cards)> cards are to become one sorted stack. In each step two
    stacks are merged into one; merging stacks of $a$ and $b$ cards takes $a + b$ seconds. What is
    the least total number of seconds?

    五叠已排好序的卡片分别有 <listed(cards)> 张，要把它们合成一叠排好序的卡片。
    每一步把两叠合并成一叠，合并 $a$ 张的一叠和 $b$ 张的一叠需要 $a + b$ 秒。总共最少需要多少秒？
    """
    # Merging the two smallest stacks first is cheapest (Huffman).
    stacks, cost = sorted(cards), 0
    while len(stacks) > 1:
        merged = heapq.heappop(stacks) + heapq.heappop(stacks)
        heapq.heappush(stacks, merged)
        cost += merged
    return cost


@question('operations', level='medium')
def middles_of_three_lamps(row=several(12, one_of('0', '1'))):
    """In a row of $12$ lamps, numbered $1$ to $12$ from left to right, some are on ($1$) and some
    are off ($0$): $<''.join(row)>$. A move switches three neighbouring lamps at once: each of them
    that is on goes off, and each that is off goes on. All lamps are to be off after as few moves as
    possible. Only one set of moves does this. What is the sum of the positions of the middle
    lamps of its moves?

    一排有 $12$ 盏灯，从左到右编号为 $1$ 到 $12$，有的亮着（$1$），有的灭着（$0$）：
    $<''.join(row)>$。每一步同时切换相邻的三盏灯：亮着的变灭，灭着的变亮。
    要用尽可能少的步数使所有的灯都灭，这样的一组步骤是唯一的。
    记下每一步所切换的三盏灯中居中那盏的编号，所记编号之和是多少？
    """
    # No move is worth making twice, and the leftmost lit lamp forces the next one.
    lamps, middles = [int(lamp) for lamp in row], []
    for i in range(10):
        if lamps[i]:
            lamps[i : i + 3] = [1 - lamp for lamp in lamps[i : i + 3]]
            middles.append(i + 2)
    require(not any(lamps) and 4 <= len(middles) <= 8)
    return sum(middles)


@question('operations', level='hard')
def guarded_switches(lit=several(3, rising(1, 8))):
    r"""Of nine switches, numbered $1$ to $9$, the switches <listed((*lit, 9))> are on and the
    others are off. In one move one switch is flipped, on or off. Switch $1$ may be flipped at any
    time. For $k \ge 2$, switch $k$ may be flipped only while switch $k - 1$ is on and all switches
    with numbers less than $k - 1$ are off. What is the least number of moves after which all nine
    switches are off?

    有九个开关，编号为 $1$ 到 $9$，其中 <listed((*lit, 9))> 号是开着的，其余的都关着。
    每一步拨动一个开关，使它由开变关或由关变开。$1$ 号开关随时可以拨动。对 $k \ge 2$，
    只有当 $k - 1$ 号开关开着，而且编号小于 $k - 1$ 的开关全都关着时，才可以拨动 $k$ 号开关。
    最少经过多少步，九个开关才能全部关上？
    """
    # The patterns form one path (Chinese rings), numbered by the inverse of the Gray code.
    gray = sum(2 ** (switch - 1) for switch in (*lit, 9))
    moves = 0
    while gray:
        moves ^= gray
        gray >>= 1
    return moves


@question('operations', level='hard')
def coins_round_the_table(coins=several(6, span(2, 30))):
    """Six people sit round a table and have, in this order, <listed(coins)> coins; the first and
    the last are neighbours, too. In one move, somebody gives one coin to one of his or her two
    neighbours. What is the least number of moves after which everyone has the same number of coins?

    六个人围坐在一张圆桌旁，依次有 <listed(coins)> 枚硬币，第一个人和最后一个人也相邻。每一步，
    其中一人把一枚硬币交给自己左右两个邻座之一。最少经过多少步，所有人的硬币数才能相同？
    """
    require(sum(coins) % 6 == 0)
    # One flow between neighbours fixes all others; their sizes sum up least at a median.
    flows = sorted(accumulate(own - sum(coins) // 6 for own in coins))
    answer = sum(abs(flow - flows[3]) for flow in flows)
    require(answer >= 20)
    return answer
