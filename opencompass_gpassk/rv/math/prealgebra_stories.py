"""Prealgebra in stories: everyday numbers, shapes, rates, counting by hand."""

from fractions import Fraction

from opencompass_gpassk.rv.question import one_of, question, require, span

# Of the escalator: so many steps in so many seconds.
SPEEDS = ((1, 5), (1, 4), (2, 7), (1, 3), (2, 5), (1, 2), (2, 3), (4, 5))


@question('prealgebra', level=1)
def pears_in_boxes(boxes=span(2, 9), each=span(5, 12), eaten=span(2, 9)):
    """Mia has $<boxes>$ boxes with $<each>$ pears each. She eats $<eaten>$ pears. How many pears
    are left?

    米娅有 $<boxes>$ 盒梨，每盒 $<each>$ 个。她吃了 $<eaten>$ 个梨。还剩多少个梨？
    """
    return boxes * each - eaten


@question('prealgebra', level=1)
def fenced_bed(length=span(5, 25), width=span(3, 12)):
    """A rectangular bed is $<length>$ m long and $<width>$ m wide. How many metres of fence go all
    around it?

    一块长方形花坛长 $<length>$ 米，宽 $<width>$ 米。绕花坛一周的围栏长多少米？
    """
    require(width < length)
    return 2 * (length + width)


@question('prealgebra', level=2)
def train_on_the_move(
    hour=span(6, 11),
    last_hour=span(14, 20),
    minute=span(11, 59),
    last_minute=span(11, 59),
    standing=span(10, 45),
):
    """A train leaves at $<hour>{:}<minute>$ and arrives at $<last_hour>{:}<last_minute>$ on the
    same day (24-hour clock). It spends a total of $<standing>$ minutes standing at stations. For
    how many minutes is it moving?

    一列火车 $<hour>{:}<minute>$ 出发，当天 $<last_hour>{:}<last_minute>$ 到达（$24$ 小时制）。
    途中它在各站一共停了 $<standing>$ 分钟。火车实际行驶（不含停站）多少分钟？
    """
    return 60 * (last_hour - hour) + last_minute - minute - standing


@question('prealgebra', level=2)
def boxes_of_tiles(
    length=span(4, 9), width=span(3, 8), side=one_of(20, 25, 50), packed=span(10, 24)
):
    """A rectangular floor measures $<length>$ m by $<width>$ m. It is to be covered with square
    tiles with sides of $<side>$ cm. The tiles are sold only in full boxes of $<packed>$. What is
    the smallest number of boxes needed?

    一块长方形地面的两边分别长 $<length>$ 米和 $<width>$ 米，
    要用边长为 $<side>$ 厘米的正方形地砖铺满。地砖整盒出售，每盒 $<packed>$ 块。至少要买多少盒？
    """
    tiles = (100 * length // side) * (100 * width // side)
    return -(-tiles // packed)  # rounded up


@question('prealgebra', level=3)
def beetle_on_the_flagpole(height=span(35, 95), up=span(5, 9), down=span(2, 6)):
    """A flagpole is $<height>$ feet tall. A beetle starts at its base on the morning of day $1$.
    Every day it climbs $<up>$ feet, and every night it slides back $<down>$ feet. On which day does
    it first reach the top? Give the number of that day.

    一根旗杆高 $<height>$ 英尺。一只甲虫在第 $1$ 天早晨从旗杆底部开始往上爬，
    每天白天向上爬 $<up>$ 英尺，夜里下滑 $<down>$ 英尺。它在第几天第一次到达杆顶？
    """
    require(down + 2 <= up)
    # The last climb is not followed by a slide; before it, each day and night gain up - down.
    return -(-(height - up) // (up - down)) + 1


@question('prealgebra', level=3)
def typed_page_numbers(first=span(2, 8), last=span(114, 399)):
    """In a report, the page numbers begin with $<first>$ on the first page of the text and go up by
    $1$ from page to page. Printing them all takes $<10 - first + 2*90 + 3*(last - 99)>$ digits.
    Which number is on the last page?

    一份报告正文第一页的页码是 $<first>$，以后每页页码加 $1$。
    印出全部页码一共用了 $<10 - first + 2*90 + 3*(last - 99)>$ 个数码。最后一页的页码是多少？
    """
    # Pages up to 9 take a digit each, the 90 pages from 10 to 99 two each, the others three.
    return last


@question('prealgebra', level=3)
def sheet_in_strips(strips=span(3, 9), side=span(10, 30)):
    """With cuts parallel to one of its sides, a square sheet of paper is cut into $<strips>$
    rectangular strips, not necessarily of equal width. The perimeters of the strips add up to
    $<2 * (strips + 1) * side>$ cm. What was the area of the sheet, in square centimetres?

    沿平行于一条边的方向，把一张正方形纸剪成 $<strips>$ 条长方形纸条（宽度不一定相等）。
    这些纸条的周长之和是 $<2 * (strips + 1) * side>$ 厘米。原来这张纸的面积是多少平方厘米？
    """
    # Each strip has two full sides of the square; their short ends make up two more.
    return side**2


@question('prealgebra', level=4)
def painted_on_the_table(length=span(5, 9), width=span(4, 8), height=span(3, 8)):
    """Small wooden cubes of equal size are glued together into a solid block that is $<length>$
    cubes long, $<width>$ cubes wide and $<height>$ cubes high. The block stands on a table, and all
    of its outside is painted except for the bottom. Then it is taken apart. How many of the small
    cubes have exactly two painted faces?

    用同样大小的小木块粘成一个实心长方体，长 $<length>$ 块，宽 $<width>$ 块，高 $<height>$ 块。
    把长方体放在桌上，除底面外，外表面全部涂上颜色，然后再把它拆开。
    恰好有两个面涂色的小木块有多少个？
    """
    require(width < length)
    # On the upright edges below the top, and on the edges of the top between its corners.
    return 4 * (height - 1) + 2 * (length - 2 + width - 2)


@question('prealgebra', level=4)
def draining_tanks(slow=span(6, 12), fast=span(3, 9), times=span(2, 5)):
    """Two equal tanks are full of water. Their valves are opened at the same moment, and each tank
    drains at its own steady rate: the first is empty after $<slow>$ hours, the second after
    $<fast>$ hours. After how many hours, with water still in both, does the first tank hold exactly
    $<times>$ times as much as the second? Answer with a common fraction in lowest terms.

    两个同样的水箱都装满了水，同时打开阀门，各自匀速放水：第一个水箱 $<slow>$ 小时放完，
    第二个 $<fast>$ 小时放完。在两个水箱都还有水时，经过多少小时，
    第一个水箱的水恰好是第二个的 $<times>$ 倍？答案写成最简分数。
    """
    require(fast < slow)
    # After t hours the tanks are 1 - t/slow and 1 - t/fast full.
    hours = (times - 1) / (Fraction(times, fast) - Fraction(1, slow))
    require(hours.denominator > 1)  # whole hours would be guessed too easily
    return hours


@question('prealgebra', level=5)
def steps_of_the_escalator(up=span(12, 72), speed=one_of(*SPEEDS)):
    """An escalator runs upwards at a steady speed. Nora walks up on it, taking one step a second,
    and reaches the top after $<up>$ steps. Then she walks down on the same escalator, which still
    runs upwards, taking two steps a second, and reaches the bottom after
    $<Fraction(2 * up * sum(speed), 2 * speed[1] - speed[0])>$ steps. How many steps would she take
    from the bottom to the top if the escalator stood still?

    一部自动扶梯匀速上行。诺拉沿扶梯往上走，每秒走一级，走了 $<up>$ 级到达顶端。
    然后她沿这部仍在上行的扶梯往下走，每秒走两级，
    走了 $<Fraction(2 * up * sum(speed), 2 * speed[1] - speed[0])>$ 级到达底端。
    如果扶梯停着不动，从底端到顶端她要走多少级？
    """
    # Going up, each step of hers brings her 1 + speed further; going down, 1 - speed / 2.
    steps = up * (1 + Fraction(*speed))
    down = steps / (1 - Fraction(*speed) / 2)
    require(steps.denominator == down.denominator == 1)
    return int(steps)
