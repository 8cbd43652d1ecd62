"""Simulation: processes that run by simple rules, and what comes of them."""

from math import gcd

from opencompass_gpassk.rv.question import question, require, rising, several, span


@question('simulation', level='easy')
def rows_in_groups_of_seven(start=span(10, 40), rows=span(60, 180)):
    """The rows of an arena are numbered from the innermost one outwards and form groups of seven.
    Row $1$ has $<start>$ seats. Within a group, each row after the first has one seat more than the
    row in front of it. The first row of each later group has one seat more than the first row of
    the previous group. How many seats do the first $<rows>$ rows have altogether?

    一座圆形剧场的座位从最里面一排起向外逐排编号，每七排为一组。第 $1$ 排有 $<start>$ 个座位。
    同一组中，从该组的第二排起，每一排都比前一排多一个座位；从第二组起，
    每一组的第一排比前一组的第一排多一个座位。前 $<rows>$ 排一共有多少个座位？
    """
    require(rows % 7)
    # A full group has 7 seats more than the one before it, the first one 7 start + 21.
    groups, rest = divmod(rows, 7)
    full = groups * (7 * start + 21) + 7 * groups * (groups - 1) // 2
    return full + rest * (start + groups) + rest * (rest - 1) // 2


@question('simulation', level='easy')
def train_up_and_down_the_mountain(stations=span(8, 30), rides=span(100, 400)):
    """A mountain railway has $<stations>$ stations, numbered from $1$ in the valley to $<stations>$
    on the summit. Its only train starts at station $1$, goes up to station $<stations>$, down to
    station $1$, up again and so on. At which station is it after $<rides>$ rides, each from one
    station to a neighbouring one? Give the station's number.

    一条登山铁路有 $<stations>$ 个车站，从山谷的 $1$ 号站编到山顶的 $<stations>$ 号站。
    唯一的一列火车从 $1$ 号站出发，上行到 $<stations>$ 号站，再下行到 $1$ 号站，然后又上行，
    如此往复。从一站开到相邻的一站算一程，开完 $<rides>$ 程后火车在几号站？
    """
    # The train is back at the first station after every 2(n - 1) rides.
    done = rides % (2 * stations - 2)
    return 1 + min(done, 2 * stations - 2 - done)


@question('simulation', level='easy')
def can_after_can_on_the_beds(cans=several(5, span(2, 9)), bed=span(1, 5)):
    """Five flower beds need <listed(cans)> cans of water, respectively. A gardener goes round the
    beds in this order, starting with the first, again and again. To each bed that does not yet have
    all its water she gives one can, which takes one minute; she passes the others by, and walking
    takes no time. After how many minutes has bed number $<bed>$ got all its water?

    五个花坛依次需要 <listed(cans)> 罐水。园丁从第一个花坛开始，按这个顺序一圈又一圈地走过各个花坛。
    遇到还没有浇够水的花坛，她就浇一罐水，用时一分钟；其余的花坛直接走过，走路不花时间。
    从开始浇水算起，多少分钟后第 $<bed>$ 个花坛浇够了水？
    """
    # Until one is done, those before it get up to as many cans, those after it up to one less.
    own = cans[bed - 1]
    require(own >= 4)
    return sum(min(n, own) for n in cans[:bed]) + sum(min(n, own - 1) for n in cans[bed:])


@question('simulation', level='easy')
def strikes_of_the_town_clock(start=span(1, 12), hours=span(20, 90)):
    """On each full hour a clock strikes the number of the hour, from once at one to twelve times at
    noon and at midnight; on each half hour it strikes once. How many strikes are there in the
    $<hours>$ hours that begin at a quarter past $<start>$?

    一座钟每到整点就敲响与钟点相同的次数，一点敲一下，直到正午和午夜各敲十二下；每到半点敲一下。
    在从 $<start>$ 点一刻开始的 $<hours>$ 个小时里，这座钟一共敲多少下？
    """
    # Twelve hours have 78 strikes on the hours, and one more on each half hour.
    turns, rest = divmod(hours, 12)
    return 78 * turns + sum((start + i) % 12 + 1 for i in range(rest)) + hours


@question('simulation', level='easy')
def every_few_lamps_round_the_ring(lamps=span(30, 99), step=span(4, 25), presses=span(150, 600)):
    """All $<lamps>$ lamps in a ring are off. Starting at one lamp (without pressing its switch),
    somebody repeats the following $<presses>$ times: move on by $<step>$ lamps along the ring,
    always in the same direction, and press the switch of the lamp reached. A press turns a lamp on
    if it is off, and off if it is on. How many lamps are on in the end?

    $<lamps>$ 盏灯围成一圈，开始时全都灭着。某人从其中一盏灯处出发（不按这盏灯的开关），
    把下面的操作重复 $<presses>$ 次：始终朝同一方向沿圆圈前进 $<step>$ 盏灯，
    并按一下所到达的那盏灯的开关。每按一下，灭着的灯变亮，亮着的灯变灭。最后有多少盏灯亮着？
    """
    # Only n / gcd(n, step) lamps are reached, over and over in turn, on in odd laps of theirs.
    reached = lamps // gcd(lamps, step)
    laps, rest = divmod(presses, reached)
    require(9 < reached < lamps and rest)
    return reached - rest if laps % 2 else rest


@question('simulation', level='medium')
def vat_drained_when_full(jug=span(5, 9), vat=span(14, 29), target=span(2, 9)):
    """A jug of $<jug>$ litres is filled to the brim again and again, and each time emptied into a
    vat of $<vat>$ litres, which is empty at first. Whenever the vat becomes full, it is drained
    completely at once; then the rest of the jug is poured in. After how many fillings of the jug,
    each emptied into the vat, are there for the first time exactly $<target>$ litres in the vat?

    一只容量为 $<jug>$ 升的壶一次又一次地装满，每次都倒入一个容量为 $<vat>$ 升、起初空着的大桶里。
    每当大桶装满，就立即把它放空，再把壶里剩下的倒进去。壶装满并倒入大桶多少次之后，
    大桶里第一次恰有 $<target>$ 升？
    """
    require(gcd(jug, vat) == 1)
    # After k fillings the vat holds the remainder of k jugs on division by a vat.
    answer = target * pow(jug, -1, vat) % vat
    require(answer > 3)
    return answer


@question('simulation', level='medium')
def counted_out_of_the_circle(children=span(11, 20), count=span(3, 5), start=span(2, 9)):
    """Children with the numbers $1$ to $<children>$ stand in a circle in this order. Starting with
    child $<start>$, they count off from one to $<count>$ around the circle, each child saying one
    number, in increasing order of the children's own numbers (child $1$ follows child
    $<children>$). The child who says $<count>$ leaves the circle, and the next child starts again
    at one. This goes on until a single child is left. What is this child's number?

    编号为 $1$ 到 $<children>$ 的孩子依次站成一圈。从 $<start>$ 号孩子开始，从一报到 $<count>$，
    每人报一个数，按编号递增的顺序沿圆圈进行（$1$ 号接在 $<children>$ 号之后）。
    报到 $<count>$ 的孩子离开圆圈，下一个孩子再从一开始报数。如此继续，直到只剩下一个孩子。
    剩下的孩子是几号？
    """
    # With one child more, the last place moves on by the count: r(n) = (r(n - 1) + k) mod n.
    last = 0
    for size in range(2, children + 1):
        last = (last + count) % size
    return (start - 1 + last) % children + 1


@question('simulation', level='medium')
def cards_taken_to_and_fro(low=span(10, 60), high=span(120, 400)):
    """Cards numbered from $<low>$ to $<high>$, one for each integer, lie in a row in increasing
    order. Going along the row from left to right, somebody takes away the first card, the third,
    the fifth and so on; then, going from right to left, the first, the third, the fifth and so on
    of those that remain; then from left to right, and so forth to and fro until a single card is
    left. What is its number?

    编号从 $<low>$ 到 $<high>$ 的卡片从小到大排成一行。某人沿着这一行从左往右走，
    拿走第一张、第三张、第五张，等等；然后从右往左走，在剩下的卡片中同样拿走遇到的第一张、第三张，
    等等；再从左往右走，如此来回，直到只剩下一张卡片。这张卡片的编号是多少？
    """
    # A pass doubles the distance of the cards; it moves the lowest if it takes that end's card.
    lowest, step, cards, rightwards = low, 1, high - low + 1, True
    while cards > 1:
        if rightwards or cards % 2:
            lowest += step
        step, cards, rightwards = 2 * step, cards // 2, not rightwards
    return lowest


@question('simulation', level='medium')
def robot_on_a_square_spiral(x=span(2, 9), y=span(2, 9), steps=span(250, 900)):
    """From the point $(<x>, -<y>)$ of the coordinate plane a robot takes steps of length $1$: $1$
    step to the right (towards greater $x$), $1$ step up, $2$ to the left, $2$ down, $3$ to the
    right, $3$ up, $4$ to the left, and so on in a growing spiral. Where is it after $<steps>$
    steps? Answer with the ordered pair $(x, y)$.

    一个机器人从坐标平面上的点 $(<x>, -<y>)$ 出发，每步长为 $1$：先向右（$x$ 增大的方向）
    走 $1$ 步，向上走 $1$ 步，再向左走 $2$ 步，向下走 $2$ 步，向右走 $3$ 步，向上走 $3$ 步，
    向左走 $4$ 步，依此类推，沿越来越大的螺旋线前进。走完 $<steps>$ 步之后它在哪里？
    答案写成有序数对 $(x, y)$。
    """
    # The sides come in pairs: the j-th pair leads j steps along and j steps up, or back.
    place, left, side, way = (x, -y), steps, 1, 1
    while left:
        along = min(side, left)
        up = min(side, left - along)
        place = (place[0] + way * along, place[1] + way * up)
        left, side, way = left - along - up, side + 1, -way
    return place


@question('simulation', level='medium')
def robot_repeats_its_program(
    first=span(2, 9), second=span(2, 9), third=span(2, 9), runs=span(20, 99)
):
    r"""A robot stands at the point $(0, 0)$ of the coordinate plane and faces upwards, in the
    direction of increasing $y$. Its program is: go $<first>$ steps forward, turn right, go
    $<second>$ steps forward, turn right, go $<third>$ steps forward, turn right. Each step has
    length $1$, and at each turn the robot rotates through $90^\circ$ on the spot. Where is it after
    running the program $<runs>$ times? Answer with the ordered pair $(x, y)$.

    一个机器人位于坐标平面上的点 $(0, 0)$，面朝上方（$y$ 增大的方向）。它的程序是：
    前进 $<first>$ 步，右转，前进 $<second>$ 步，右转，前进 $<third>$ 步，右转。每步的长度为 $1$，
    每次右转都是原地转 $90^\circ$。把这个程序运行 $<runs>$ 遍之后，机器人在哪里？
    答案写成有序数对 $(x, y)$。
    """
    require(runs % 4 and first != third)
    # A run turns the robot by a right angle, so that four runs bring it back to the start.
    x, y = second, first - third
    moves = [(x, y), (-y, x), (-x, -y)][: runs % 4]
    return sum(a for a, _ in moves), sum(b for _, b in moves)


@question('simulation', level='hard')
def beetles_on_a_ruler(
    length=span(30, 60), marks=several(4, rising(10, 'length - 1')), seconds=span(100, 300)
):
    """Four beetles sit at the marks <listed(marks)> of a ruler whose marks run from $0$ to
    $<length>$. At the same moment, they all start to walk along it at a speed of one mark per
    second, the first and the third towards greater numbers, the second and the fourth towards
    smaller ones. Whenever two beetles meet, both turn round at once, and a beetle that comes to an
    end of the ruler also turns round at once. At which mark is the beetle that started at
    $<marks[1]>$ after $<seconds>$ seconds?

    四只甲虫分别停在一把尺子的刻度 <listed(marks)> 处（依次称为第一至第四只），
    尺子的刻度从 $0$ 到 $<length>$。它们同时开始沿尺子爬行，每秒爬一个刻度，
    第一只和第三只朝刻度增大的方向，第二只和第四只朝相反的方向。两只甲虫一相遇就立即各自掉头，
    爬到尺子一端的甲虫也立即掉头。从刻度 $<marks[1]>$ 处出发的甲虫在 $<seconds>$ 秒后位于哪个刻度？
    """
    # Beetles that turn are beetles that pass and swap names; their order stays the same.
    gone = [mark + way * seconds for mark, way in zip(marks, (1, -1, 1, -1), strict=True)]
    return sorted(min(g % (2 * length), -g % (2 * length)) for g in gone)[1]


@question('simulation', level='hard')
def hanoi_halted_halfway(discs=span(7, 9), moves=span(50, 450)):
    """Of three pegs $A$, $B$ and $C$, peg $A$ holds $<discs>$ discs of different sizes, smaller
    ones on larger ones. A move takes the top disc of one peg and puts it on top of another peg, but
    never on a smaller disc. All discs are to be brought to peg $C$ in as few moves as possible. How
    many discs are on pegs $A$, $B$ and $C$ after the first $<moves>$ moves? Answer with the ordered
    triple $(a, b, c)$.

    有三根柱子 $A$、$B$、$C$，柱子 $A$ 上套着 $<discs>$ 个大小各不相同的圆盘，小的叠在大的上面。
    每一步把某根柱子最上面的圆盘移到另一根柱子的最上面，但不能放在比它小的圆盘上。
    要用尽可能少的步数把所有圆盘移到柱子 $C$ 上。走完前 $<moves>$ 步时，柱子 $A$、$B$、
    $C$ 上各有多少个圆盘？答案写成有序三元组 $(a, b, c)$。
    """
    require(moves < 2**discs - 10)
    # The largest disc moves once, at move 2^(n-1); before and after it, the others change pegs.
    source, spare, target, left, pegs = 0, 1, 2, moves, [0, 0, 0]
    for disc in reversed(range(discs)):
        moved, left = divmod(left, 2**disc)
        pegs[target if moved else source] += 1
        source, spare, target = (spare, source, target) if moved else (source, target, spare)
    return tuple(pegs)
