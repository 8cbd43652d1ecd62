"""Games of two players without chance: lost positions, winning moves, scores of best play."""

import functools
import itertools
import math

from opencompass_gpassk.rv.question import (
    distinct,
    one_of,
    question,
    require,
    several,
    span,
)


@question('games', level='easy')
def last_pebble_loses(most=span(3, 9), low=span(10, 60), high=span(120, 400)):
    """Mia and Noah take turns at removing $1$ to $<most>$ pebbles from one pile; Mia begins, and
    whoever has to take the last pebble loses. For how many of the pile sizes from $<low>$ to
    $<high>$ (both included) can Noah force a win?

    米娅和诺亚轮流从一堆石子中取走 $1$ 到 $<most>$ 颗，米娅先取，取到最后一颗石子的人输。
    石子数从 $<low>$ 到 $<high>$（含两端）时，有多少种情形诺亚必能取胜？
    """
    # Leaving 1 more than a multiple of most + 1 forces the last pebble on the other.
    return (high - 1) // (most + 1) - (low - 2) // (most + 1)


@question('games', level='easy')
def divisor_of_the_heap(low=span(10, 50), high=span(70, 150)):
    r"""Two players take turns at removing beans from a heap. The number of beans removed must be a
    divisor of the number that the heap has just before the move, and at least one bean must stay. A
    player who cannot move loses. Find the sum of all starting sizes of the heap from $<low>$ to
    $<high>$ beans (both included) with which the player who moves first loses if both play
    perfectly.

    两人轮流从一堆豆子中取豆。每次取走的颗数必须是当时这堆豆子颗数的因数，并且至少要留下一颗。
    轮到谁时不能再取，谁就输。设这堆豆子最初有 $n$ 颗，$<low> \le n \le <high>$，
    双方都采取最优策略。求使先手必败的所有 $n$ 之和。
    """
    # An odd number less an (odd) divisor is even, and an even one can be made odd by taking 1.
    return sum(n for n in range(low, high + 1) if n % 2)


@question('games', level='easy')
def open_cards_shared(cards=several(7, distinct(5, 79))):
    """Seven cards worth <listed(cards)> points lie face up. Lea and Tom take turns at picking any
    one card until none is left; Lea begins. Each wants to finish as far ahead of the other as
    possible, and both play perfectly. By how many points does Lea finish ahead of Tom?

    桌上正面朝上放着七张牌，分值依次为 <listed(cards)>。莉亚和汤姆轮流任取一张，直到取完，莉亚先取。
    两人都想尽可能多地领先对方，并且都采取最优策略。最后莉亚比汤姆多得多少分？
    """
    # Nothing hinders taking the most valuable card each time.
    ordered = sorted(cards, reverse=True)
    return sum(ordered[::2]) - sum(ordered[1::2])


@question('games', level='medium')
def one_winning_move(piles=several(3, distinct(6, 29))):
    """Three piles hold <listed(piles)> coins. Two players take turns; on a turn a player removes
    one or more coins from a single pile. Whoever takes the very last coin wins. Exactly one opening
    move lets the first player force a win. How many coins are removed by this move?

    有三堆硬币，分别有 <listed(piles)> 枚。两人轮流取，每次从其中一堆取走一枚或多枚，
    取到最后一枚硬币的人获胜。先手恰有一种取法能保证自己获胜，这一步要取走多少枚硬币？
    """
    smallest, middle, largest = sorted(piles)
    require(middle < 16 <= largest)
    # The game is lost if and only if each pile is the exclusive or of the others.
    return largest - (smallest ^ middle)


@question('games', level='medium')
def ends_of_the_row(cards=several(6, distinct(5, 44))):
    """Six cards in a row show, from left to right, the numbers <listed(cards)>. Two players take
    turns at picking up the leftmost or the rightmost card that is still there, until all are gone.
    A score is the sum of the cards picked up, and each player wants to finish as far ahead of the
    other as possible. If both play perfectly, by how many points does the player who begins win?

    六张牌排成一行，从左到右写着 <listed(cards)>。两人轮流取走剩下的牌中最左边或最右边的一张，
    直到取完。每人的得分是所取各牌上的数之和，两人都想尽可能多地领先对方。如果双方都采取最优策略，
    先手比后手多得多少分？
    """
    # The best lead on a row follows from the best leads on the two rows one card shorter.
    lead = list(cards)
    for length in range(1, 6):
        lead = [max(cards[i] - lead[i + 1], cards[i + length] - lead[i]) for i in range(6 - length)]
    require(lead[0] > 0)
    return lead[0]


@question('games', level='medium')
def token_over_the_squares(numbers=several(8, distinct(1, 12)), signs=several(8, one_of(-1, 1))):
    """Eight squares in a row are labelled, from left to right, with the numbers
    <listed(s * n for s, n in zip(signs, numbers))>. A token lies in front of the first square. Two
    players take turns moving it forward by one, two or three squares, but never beyond the last
    square. A move scores the sum of the numbers on the squares that the token passes over and on
    the one where it lands, but not on the one where it started. The game ends when the token is on
    the last square. Each player wants to make their own total score minus the other's as large as
    possible. If both play perfectly, what is the first player's total score minus the second
    player's? (It may be negative.)

    八个方格排成一行，第一格之前放着一枚棋子。
    各格中从左到右依次写着 <listed(s * n for s, n in zip(signs, numbers))>。
    两人轮流把棋子向前移动一格、两格或三格，不得越过最后一格；
    棋子这一步经过和到达的各格（不含出发的那一格）中的数之和，就是走这一步的人的得分。
    棋子到达最后一格时游戏结束。每人都想使自己的总分减去对方的总分尽可能大。如果双方都采取最优策略，
    先手的总分减去后手的总分是多少？（结果可能为负。）
    """
    # The best lead from a square on follows from the best leads one to three squares later.
    squares = [sign * number for sign, number in zip(signs, numbers, strict=True)]
    lead = [0]  # on the last 0, 1, 2, … squares
    for start in range(7, -1, -1):
        takes = range(1, min(3, 8 - start) + 1)
        lead.append(max(sum(squares[start : start + k]) - lead[-k] for k in takes))
    return lead[8]


@question('games', level='medium')
def short_steps_to_corner(
    left=distinct(2, 5), down=distinct(2, 5), columns=span(10, 20), rows=span(10, 20)
):
    r"""A token stands on one of the squares of a board with $<columns>$ columns and $<rows>$ rows.
    Two players move it in turn, either $1$ to $<left>$ squares to the left or $1$ to $<down>$
    squares down, never off the board. A player who cannot move loses. From how many of the
    $<columns> \cdot <rows>$ starting squares does the player who moves first lose if both play
    perfectly?

    一枚棋子放在一块有 $<columns>$ 列 $<rows>$ 行的棋盘的某一格上。两人轮流移动它，
    每次或者向左移 $1$ 到 $<left>$ 格，或者向下移 $1$ 到 $<down>$ 格，不得移出棋盘。
    轮到谁时不能移动，谁就输。如果双方都采取最优策略，在 $<columns> \cdot <rows>$ 个起始格中，
    有多少个使先手必败？
    """
    # The directions are heaps of Nim with Grundy numbers modulo left + 1 and modulo down + 1.
    squares = itertools.product(range(columns), range(rows))
    return sum(x % (left + 1) == y % (down + 1) for x, y in squares)


@question('games', level='hard')
def queen_to_goal(goal_column=span(2, 9), goal_row=span(2, 9), column=span(20, 40)):
    """On a board of squares that extends without end to the right and upwards, columns are numbered
    from left to right and rows from bottom to top. Two players move a single queen in turn, one
    or more squares to the left, or down, or diagonally to the left and down, but never to the left
    of column $<goal_column>$ or below row $<goal_row>$. Whoever brings her to the square in
    column $<goal_column>$ and row $<goal_row>$ wins. The queen stands in column $<column>$, and the
    player to move will lose if both play perfectly. What is the number of the row she stands in?

    一块棋盘向右、向上无限延伸，列从左到右编号，行从下到上编号。两人轮流移动同一枚皇后，
    每次可以向左、向下或沿对角线向左下方移动一格或多格，但向左不得越过第 $<goal_column>$ 列，
    向下不得越过第 $<goal_row>$ 行。谁把皇后移到第 $<goal_column>$ 列第 $<goal_row>$ 行的格子，
    谁就获胜。现在皇后在第 $<column>$ 列，并且如果双方都采取最优策略，轮到走棋的一方必败。
    皇后在第几行？
    """
    # The lost distances are the pairs of floor(k phi) and floor(k phi) + k.
    distance = column - goal_column
    pairs = [(near := (k + math.isqrt(5 * k * k)) // 2, near + k) for k in range(1, 40)]
    return goal_row + next(sum(pair) - distance for pair in pairs if distance in pair)


@question('games', level='hard')
def dominoes_on_strips(length=span(4, 11), low=span(2, 8), high=span(14, 24)):
    r"""Squares are drawn in two separate rows, $<length>$ squares in the first and $n$ squares in
    the second. Two players take turns at laying a domino on two neighbouring squares of a row that
    are both still empty. A player who cannot lay one loses. Find the sum of all $n$ with
    $<low> \le n \le <high>$ for which the player who moves second can force a win.

    纸上画有两行方格，第一行 $<length>$ 格，第二行 $n$ 格，每行的方格依次相连，两行之间不相连。
    两人轮流放一张多米诺骨牌，盖住同一行中相邻的两个空格。轮到谁时放不下，谁就输。
    求满足 $<low> \le n \le <high>$ 且使后手必能取胜的所有 $n$ 之和。
    """
    # A domino splits a strip in two: Grundy numbers are the mex over exclusive ors.
    grundy = [0, 0]
    for n in range(2, high + 1):
        reached = {grundy[i] ^ grundy[n - 2 - i] for i in range(n - 1)}
        grundy.append(min(set(range(n)) - reached))
    answer = sum(n for n in range(low, high + 1) if grundy[n] == grundy[length])
    require(answer > 9)
    return answer


@question('games', level='hard')
def faulty_joint_of_the_cable(low=span(5, 30), fee=span(2, 9)):
    """Exactly one of the joints of a cable, which are numbered from $<low>$ to $<low + 7>$ along
    it, is faulty. A test of joint $g$ shows whether the fault is there, at a smaller number or at a
    greater one. It is free of charge if the fault is there and costs $g + <fee>$ crowns otherwise.
    Joints are tested one after another until it is certain which is faulty. What is the smallest
    number of crowns that is sure to be enough if the joints to be tested are chosen in the best
    way?

    一根电缆上的接头依次编号为 $<low>$ 到 $<low + 7>$，其中恰有一个有故障。检测 $g$ 号接头，
    可以知道故障是在这里、在编号更小的接头处，还是在编号更大的接头处。如果故障就在这里，
    这次检测免费，否则要付 $g + <fee>$ 克朗。逐个检测接头，直到确定哪个接头有故障为止。
    如果以最优的方式选择要检测的接头，至少要准备多少克朗，才能保证一定够用？
    """

    @functools.cache
    def worst(first, last):
        if first >= last:
            return 0
        return min(
            joint + fee + max(worst(first, joint - 1), worst(joint + 1, last))
            for joint in range(first, last + 1)
        )

    return worst(low, low + 7)


@question('games', level='hard')
def twice_the_last_take(low=span(10, 40), high=span(60, 99)):
    """Ana and Ben take coins in turn from a pile of $n$ coins, and whoever takes the last coin
    wins. Ana begins. On her first move she may take any number of coins from $1$ to $n - 1$. From
    then on a player takes at least one coin and at most twice as many as the other has just taken.
    For how many of the values of $n$ from $<low>$ to $<high>$ (both included) can Ana force a win
    by taking exactly one coin on her first move?

    安娜和本杰明轮流从一堆 $n$ 枚硬币中取硬币，取到最后一枚的人获胜。安娜先取，
    第一步可取 $1$ 到 $n - 1$ 枚。此后每人每次至少取一枚，至多取对方刚取枚数的两倍。
    $n$ 取从 $<low>$ 到 $<high>$（含两端）的整数时，有多少个值能使安娜第一步恰取一枚就必能获胜？
    """
    # Taking the smallest Fibonacci number of the Zeckendorf representation wins, less doesn't.
    wins = 0
    for rest in range(low, high + 1):
        for part in (89, 55, 34, 21, 13, 8, 5, 3, 2):
            rest -= part if part <= rest else 0
        wins += rest == 1
    return wins
