"""Arrays: sums over blocks, pairs and subsets, medians, missing numbers, tables."""

from itertools import combinations
from math import prod

from opencompass_gpassk.rv.question import (
    distinct,
    either_sign,
    question,
    require,
    rising,
    several,
    span,
)


@question('arrays', level='easy')
def sum_of_block_sums(numbers=several(7, distinct(2, 24))):
    """The numbers <listed(numbers)> stand in a row in this order. For every block of two or more
    consecutive numbers of the row (the whole row is a block, too), write down the sum of its
    numbers. What is the total of all sums written down?

    将数 <listed(numbers)> 按此顺序排成一行。
    对这一行中由两个或两个以上相邻的数组成的每一段（整行也算一段），写下该段各数之和。
    所有写下的和的总和是多少？
    """
    # The i-th of n numbers is in i(n + 1 - i) blocks, one of which is the number alone.
    return sum((i * (8 - i) - 1) * number for i, number in enumerate(numbers, 1))


@question('arrays', level='easy')
def well_on_the_road(farms=several(7, distinct(2, 99))):
    """Seven farms lie on a straight road, <listed(farms)> kilometres from its beginning
    respectively. A well is to be dug somewhere on the road. What is the least possible sum, in
    kilometres, of the seven distances between the well and the farms?

    一条笔直的公路旁有七个农场，到公路起点的距离分别为 <listed(farms)> 千米。
    要在公路上某处打一口井。这口井到七个农场的距离之和最小是多少千米？
    """
    # The sum of distances is least at a median.
    middle = sorted(farms)[3]
    return sum(abs(farm - middle) for farm in farms)


@question('arrays', level='easy')
def greatest_triple_product(
    negative=several(3, distinct(-19, -2)),
    positive=several(4, distinct(2, 17)),
    order=several(7, distinct(0, 6)),
):
    """What is the largest product of three different numbers among
    <listed((negative + positive)[i] for i in order)>?

    从 <listed((negative + positive)[i] for i in order)> 中取三个不同的数，它们的乘积最大是多少？
    """
    # It has the largest number, with the two next ones or with the two least ones.
    low = sorted(negative + positive)
    return low[-1] * max(low[0] * low[1], low[-2] * low[-3])


@question('arrays', level='easy')
def products_over_subsets(elements=several(5, rising(2, 15))):
    r"""For every non-empty subset of $\{<[*elements]>\}$, write down the product of its elements
    (for a subset with one element, that element). What is the sum of all numbers written down?

    对集合 $\{<[*elements]>\}$ 的每个非空子集，写下其所有元素的乘积（只有一个元素的子集，
    就写下这个元素）。所有写下的数的和是多少？
    """
    # Expanding the product of all (1 + a) gives them all, and 1 for the empty subset.
    return prod(1 + element for element in elements) - 1


@question('arrays', level='medium')
def hooks_with_one_number_twice(
    last=span(25, 60), twice=distinct(2, 'last - 1'), missing=distinct(2, 'last - 1')
):
    """The $<last>$ hooks of a cloakroom should bear the integers from $1$ to $<last>$, one each,
    but by mistake one of these integers is on two hooks, and another one on none. The sum of the
    integers on the $<last>$ hooks is $<sum(range(last + 1)) + twice - missing>$, and the sum of
    their squares is $<sum(i * i for i in range(last + 1)) + twice**2 - missing**2>$. Let $t$ be the
    integer that is on two hooks and $m$ the one that is missing. Find the ordered pair $(t, m)$.

    衣帽间的 $<last>$ 个挂钩本应标上从 $1$ 到 $<last>$ 的整数，每个挂钩一个数，但由于疏忽，
    其中一个整数标在了两个挂钩上，另一个整数没有标出。
    这 $<last>$ 个挂钩上的整数之和为 $<sum(range(last + 1)) + twice - missing>$，
    平方和为 $<sum(i * i for i in range(last + 1)) + twice**2 - missing**2>$。
    设标了两次的整数为 $t$，漏标的整数为 $m$。求有序数对 $(t, m)$。
    """
    # The sums tell t - m and t^2 - m^2 = (t - m)(t + m).
    return twice, missing


@question('arrays', level='medium')
def xor_of_every_pair(numbers=several(6, distinct(4, 63))):
    r"""For non-negative integers $a$ and $b$, let $a \oplus b$ be the number that has the binary
    digit $1$ in each place where the binary digits of $a$ and $b$ (with leading zeros if needed)
    differ, and $0$ where they are equal; for example, $6 \oplus 3 = 5$. Two different numbers $a$
    and $b$ can be chosen from <listed(numbers)> in $15$ ways (their order does not matter). What is
    the sum of $a \oplus b$ over all these choices? Answer in base ten.

    对非负整数 $a$ 和 $b$，把两数写成二进制，位数不足的在前面补零，再逐位比较：
    数字不同的数位记 $1$，相同的数位记 $0$，所得的二进制数记作 $a \oplus b$；例如 $6 \oplus 3 = 5$。
    从 <listed(numbers)> 中取两个不同的数 $a$ 和 $b$（不计次序），共有 $15$ 种取法。
    所有这些 $a \oplus b$ 的和是多少？答案用十进制表示。
    """
    # A binary place counts once for each pair of a number with a 1 there and one with a 0.
    ones = [sum(number >> place & 1 for number in numbers) for place in range(6)]
    return sum(2**place * one * (6 - one) for place, one in enumerate(ones))


@question('arrays', level='medium')
def spiral_into_the_table(
    height=span(10, 20),
    width=span(10, 20),
    row=span(4, 'height - 3'),
    column=span(4, 'width - 3'),
):
    r"""A table has $<height>$ rows and $<width>$ columns. The numbers $1, 2, 3, \dots$ are written
    into its cells along a clockwise spiral, which starts in the top left corner, runs to the right
    along the first row, down the last column, to the left along the last row, and so on inwards
    until the table is full. Which number is in row $<row>$ (counted from the top) and column
    $<column>$ (counted from the left)?

    一张表格有 $<height>$ 行 $<width>$ 列。把数 $1, 2, 3, \dots$ 沿顺时针方向的螺旋线依次填入各格：
    从左上角开始，沿第一行向右，沿最后一列向下，沿最后一行向左，如此不断向内，直到填满表格。
    从上数第 $<row>$ 行、从左数第 $<column>$ 列的格中是哪个数？
    """
    # Outside the cell's own ring there are k rings; then walk its ring.
    k = min(row - 1, column - 1, height - row, width - column)
    h, w, r, c = height - 2 * k, width - 2 * k, row - k, column - k
    place = r + c - 1 if r == 1 or c == w else 2 * (h + w) - r - c - 1
    return height * width - h * w + place


@question('arrays', level='medium')
def best_arc_of_the_ring(numbers=several(8, either_sign(2, 15))):
    """The eight numbers <listed(numbers)> are written round a circle in this order, so that the
    last one is followed by the first. What is the largest possible sum of one or more consecutive
    numbers on the circle, each taken at most once?

    将八个数 <listed(numbers)> 按此顺序写在一个圆周上，最后一个数之后又是第一个数。
    在圆周上取一个或若干个相邻的数，每个数至多取一次，它们的和最大是多少？
    """
    # An arc across the ends leaves out a block of the row, which should then be the least.
    blocks = [sum(numbers[i:j]) for i, j in combinations(range(9), 2)]
    best = max(*blocks, sum(numbers) - min(blocks))
    require(best >= 10 and sum(number < 0 for number in numbers) in (3, 4))
    return best


@question('arrays', level='medium')
def middles_of_triples(elements=several(8, distinct(3, 49))):
    r"""From each of the $56$ three-element subsets of $\{<[*elements]>\}$, take the element that is
    neither the least nor the greatest of the three. What is the sum of the $56$ numbers taken?

    集合 $\{<[*elements]>\}$ 有 $56$ 个三元子集。
    从每个三元子集中取出既不是最小也不是最大的那个元素。取出的这 $56$ 个数的和是多少？
    """
    # An element is in the middle as often as one below it and one above it can be chosen.
    return sum(i * (7 - i) * element for i, element in enumerate(sorted(elements)))


@question('arrays', level='hard')
def place_among_products(rows=span(7, 10), columns=span(12, 16), place=span(50, 84)):
    r"""All $<rows * columns>$ products $i \cdot j$ with $1 \le i \le <rows>$ and $1 \le j \le
    <columns>$ are listed in non-decreasing order, equal products as often as they occur (so $1
    \cdot 2$ and $2 \cdot 1$ are two entries). Which number is in position $<place>$ of this list?

    把全部 $<rows * columns>$ 个乘积 $i \cdot j$（$1 \le i \le <rows>$，$1 \le j \le <columns>$）
    从小到大排成一列，相等的乘积出现几次就列几次（例如 $1 \cdot 2$ 和 $2 \cdot 1$ 算作两项）。
    这一列中第 $<place>$ 个数是多少？
    """
    return sorted(i * j for i in range(1, rows + 1) for j in range(1, columns + 1))[place - 1]


@question('arrays', level='hard')
def five_from_ten_sums(numbers=several(5, distinct(2, 39))):
    """Somebody has thought of five different positive integers and written down, in non-decreasing
    order, the sums of all ten pairs of them:
    <listed(sorted(a + b for a, b in combinations(numbers, 2)))>. What are the five integers? List
    them in increasing order, separated by commas.

    某人想好了五个不同的正整数，并把其中每两个数的和（共十个）从小到大依次写下：
    <listed(sorted(a + b for a, b in combinations(numbers, 2)))>。这五个正整数是哪些？
    按从小到大的顺序列出，答案用逗号隔开。
    """
    # All sums add up to 4(a + b + c + d + e); the ends a + b and d + e leave c; next to them are
    # a + c and c + e.
    return sorted(numbers)
