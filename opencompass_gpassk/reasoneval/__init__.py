"""ReasonEval (arXiv 2404.05692): is each step of a solution valid, and does it help?"""
