"""Probability: socks, loaded coins, random walks, seats, spinners, ballots, mean waits."""

from fractions import Fraction
from itertools import product
from math import comb, gcd, prod

from opencompass_gpassk.rv.question import question, require, rising, several, span


@question('probability', level='easy')
def two_socks_alike(red=span(2, 12), blue=span(2, 12), green=span(2, 12)):
    """A drawer holds $<red>$ red, $<blue>$ blue and $<green>$ green socks. Two socks are drawn at
    random, without replacement. What is the probability that they have the same colour? Answer with
    a common fraction in lowest terms.

    抽屉里有 $<red>$ 只红袜子、$<blue>$ 只蓝袜子和 $<green>$ 只绿袜子。从中不放回地随机取出两只，
    这两只袜子颜色相同的概率是多少？答案写成最简分数。
    """
    return Fraction(comb(red, 2) + comb(blue, 2) + comb(green, 2), comb(red + blue + green, 2))


@question('probability', level='medium')
def two_heads_of_loaded(numbers=several(4, rising(2, 9))):
    """Four coins, not all of them fair, come up heads with probabilities
    <listed(Fraction(1, n) for n in numbers)>, respectively. Each is tossed once, independently of
    the others. What is the probability that exactly two of them come up heads? Answer with a common
    fraction in lowest terms.

    有四枚硬币，不全是均匀的，掷出正面的概率依次为 <listed(Fraction(1, n) for n in numbers)>。
    每枚各掷一次，结果相互独立。恰有两枚掷出正面的概率是多少？答案写成最简分数。
    """
    # Coin by coin, the chances of each number of heads follow from those before.
    chance = [Fraction(1), Fraction(0), Fraction(0)]  # of 0, 1, 2 heads so far
    for n in numbers:
        more = [Fraction(0), *chance]
        chance = [(c * (n - 1) + m) / n for c, m in zip(chance, more, strict=False)]
    require(chance[2].denominator > 99)
    return chance[2]


@question('probability', level='medium')
def beetle_on_board(
    rows=span(2, 5), columns=span(3, 6), row=span(1, 'rows'), column=span(1, 'columns')
):
    r"""A beetle sits on a board with $<rows>$ rows and $<columns>$ columns of squares, in row
    $<row>$ and column $<column>$ (numbered from $1$). It makes four moves, each of them one square
    up, down, left or right with probability $\frac{1}{4}$ each. If it leaves the board, it falls
    off for good. What is the probability that it is still on the board after the four moves? Answer
    with a common fraction in lowest terms.

    一块棋盘有 $<rows>$ 行 $<columns>$ 列方格，
    一只甲虫停在第 $<row>$ 行第 $<column>$ 列的方格中（行和列都从 $1$ 开始编号）。它先后爬行四次，
    每次向上、下、左、右爬一格，概率各为 $\frac{1}{4}$；一旦爬出棋盘就掉下去，不再回来。
    四次爬行之后它仍在棋盘上的概率是多少？答案写成最简分数。
    """
    squares = [(row, column)]  # at the ends of all paths so far that stay on the board
    for _ in range(4):
        near = [(r + a, c + b) for r, c in squares for a, b in ((0, 1), (0, -1), (1, 0), (-1, 0))]
        squares = [(r, c) for r, c in near if 1 <= r <= rows and 1 <= c <= columns]
    return Fraction(len(squares), 4**4)


@question('probability', level='medium')
def scatterbrained_guest(
    guests=span(15, 40), earlier=span(10, 'guests - 3'), later=span(11, 'guests - 1')
):
    """Each of the $<guests>$ guests at a dinner has one reserved seat. They come in one by one. The
    first guest has forgotten which seat is reserved for her and takes one of the $<guests>$ seats,
    each equally likely (it may be her own). Each later guest takes their own seat if it is free,
    and otherwise takes one of the free seats, again each equally likely. What is the probability
    that guest number $<earlier>$ and guest number $<later>$ (in the order in which they come in)
    both get their own seats? Answer with a common fraction in lowest terms.

    一次晚宴有 $<guests>$ 位客人，每人各有一个预留的座位。客人逐一入场。
    第一位客人忘了自己的座位是哪一个，
    便从 $<guests>$ 个座位中等可能地任选一个坐下（也可能恰好是自己的座位）。此后每位客人入场时，
    如果自己的座位空着就坐自己的座位，否则从空座位中等可能地任选一个坐下。
    第 $<earlier>$ 位客人和第 $<later>$ 位客人最后都坐在自己座位上的概率是多少？答案写成最简分数。
    """
    require(earlier < later < guests)
    # Random choosers are as likely to take any of the seats 1 and k to n first.
    one, other = guests - earlier + 1, guests - later + 1
    return Fraction(one, one + 1) * Fraction(other, other + 1)


@question('probability', level='medium')
def spin_for_both_colours(red=span(2, 7), blue=span(2, 7), white=span(2, 12)):
    """A wheel of fortune has $<red>$ red, $<blue>$ blue and $<white>$ white sectors, all equally
    likely. It is spun until each of the colours red and blue has come up at least once. What is the
    expected number of spins? Answer with a common fraction in lowest terms.

    一个转盘上有 $<red>$ 个红色扇区、$<blue>$ 个蓝色扇区和 $<white>$ 个白色扇区，
    转到每个扇区的可能性相同。不断转动转盘，直到红色和蓝色都至少出现过一次为止。
    转动次数的数学期望是多少？答案写成最简分数。
    """
    # The later of two waits is their sum less the earlier one.
    waits = Fraction(1, red) + Fraction(1, blue) - Fraction(1, red + blue)
    answer = (red + blue + white) * waits
    require(red != blue and answer.denominator > 1)
    return answer


@question('probability', level='medium')
def stop_at_or_past(faces=span(3, 6), stop=span(4, 7), bound=span('stop', 'stop + faces - 2')):
    """A fair spinner shows each of the integers from $1$ to $<faces>$ with the same probability. It
    is spun, and the numbers are added up, until the total is $<stop>$ or more. What is the
    probability that the final total is at most $<bound>$? Answer with a common fraction in lowest
    terms.

    一个均匀的转盘等可能地转出 $1$ 到 $<faces>$ 中的每一个整数。不断转动转盘并把转出的数累加，
    直到总和达到或超过 $<stop>$ 为止。最后的总和不超过 $<bound>$ 的概率是多少？答案写成最简分数。
    """
    # A total is reached in one spin from the totals before it that lie below the stop.
    hit = [Fraction(1)]
    for total in range(1, bound + 1):
        before = hit[max(total - faces, 0) : min(total, stop)]
        hit.append(sum(before, Fraction(0)) / faces)
    return sum(hit[stop:], Fraction(0))


@question('probability', level='hard')
def chalk_shared_by_two(red=span(1, 6), blue=span(1, 6), green=span(1, 6)):
    """A box holds <count(red, 'red piece')>, <count(blue, 'blue piece')> and
    <count(green, 'green piece')> of chalk. Ana takes $<(red + blue + green) // 2>$ of the
    $<red + blue + green>$ pieces at random, and Ben gets the rest. What is the probability that the
    number of different colours among Ana's pieces equals the number of different colours among
    Ben's pieces? Answer with a common fraction in lowest terms.

    盒子里有 $<red>$ 支红粉笔、$<blue>$ 支蓝粉笔和 $<green>$ 支绿粉笔。
    安娜随机取走 $<(red + blue + green) // 2>$ 支（一共 $<red + blue + green>$ 支），
    其余的归本杰明。两人的粉笔颜色种数相同的概率是多少？答案写成最简分数。
    """
    # Binomials count the ways to put so many pieces of each colour into one share.
    pieces = (red, blue, green)
    half = sum(pieces) // 2
    require(sum(pieces) in (8, 10, 12))
    ways = 0
    for left in product(*(range(n + 1) for n in pieces)):
        right = [n - k for n, k in zip(pieces, left, strict=True)]
        if sum(left) == half and left.count(0) == right.count(0):
            ways += prod(map(comb, pieces, left))
    answer = Fraction(ways, comb(2 * half, half))
    require(answer < 1)
    return answer


@question('probability', level='hard')
def never_two_behind(winner=span(6, 16), loser=span(4, 14)):
    """In an election Ada got $<winner>$ votes and Bo got $<loser>$. The ballots are counted one by
    one in random order. What is the probability that at no time during the count is Bo two or more
    votes ahead of Ada? Answer with a common fraction in lowest terms.

    在一次选举中，艾达得了 $<winner>$ 票，鲍勃得了 $<loser>$ 票。选票按随机顺序逐张清点。
    在整个计票过程中，鲍勃从未领先艾达两票或两票以上的概率是多少？答案写成最简分数。
    """
    require(winner > loser)
    # Reflected after Bo's first lead of two, the bad orders give him all but loser - 2 votes.
    return 1 - Fraction(comb(winner + loser, loser - 2), comb(winner + loser, loser))


@question('probability', level='hard')
def unfair_duel_for_chips(own=span(2, 3), other=span(2, 3), wins=span(1, 6), rounds=span(3, 7)):
    """Kim has $<own>$ chips and Lou has $<other>$. In each round, independently of the others, Kim
    wins one chip from Lou with probability $<Fraction(wins, rounds)>$; otherwise Lou wins one chip
    from Kim. They play until one of them has all the chips. What is the probability that it is Kim?
    Answer with a common fraction in lowest terms.

    金姆有 $<own>$ 枚筹码，路易有 $<other>$ 枚。
    每一局金姆获胜的概率都是 $<Fraction(wins, rounds)>$，各局相互独立，没有平局；
    每局由输家给赢家一枚筹码。两人一直玩到其中一人拥有全部筹码为止。
    金姆最终拥有全部筹码的概率是多少？答案写成最简分数。
    """
    require(wins < rounds and gcd(wins, rounds) == 1 and 2 * wins != rounds)
    # The ruin of a gambler, by the odds of losing a round.
    odds = Fraction(rounds - wins, wins)
    answer = (1 - odds**own) / (1 - odds ** (own + other))
    require(answer.denominator > 9)
    return answer


@question('probability', level='hard')
def wait_for_red_white_red(red=span(1, 10), white=span(1, 10)):
    """A bag holds <count(red, 'red ball')> and <count(white, 'white ball')>. A ball is drawn at
    random, its colour is noted, and it is put back; this is repeated until the last three colours
    noted are red, white, red in this order. What is the expected number of draws? Answer with a
    common fraction in lowest terms.

    袋子里有 $<red>$ 个红球和 $<white>$ 个白球。随机取出一个球，记下颜色后放回；如此反复，
    直到最后记下的三个颜色依次为红、白、红为止。取球次数的数学期望是多少？答案写成最简分数。
    """
    require(gcd(red, white) == 1 and red + white > 2)
    # The mean wait adds 1/P for each beginning, of chance P, that is the pattern's end too.
    p = Fraction(red, red + white)
    return 1 / (p * (1 - p) * p) + 1 / p
