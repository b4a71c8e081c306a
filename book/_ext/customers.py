"""The customers that chapter 6d lets its readers serve. ``python book/_ext/customers.py`` writes
them to ``_static/customers.js``, a script because a page opened from a disk may not load JSON.

They are the study's first instance. ``theta`` are the weights by which RLSVI served customer 1200
of the chapter's own run: theta[h][0] of the products, theta[h][1 + n] of the answer on product n.
"""

import json
from pathlib import Path

import numpy as np

from rlsvi_core import Agent
from rlsvi_study.recommender.experiments import LAM, VARIANCE, random_customers
from rlsvi_study.recommender.products import ProductLearner

FILE = Path(__file__).parents[1] / "_static/customers.js"


def made():
    customers = random_customers(0)
    agent = Agent(ProductLearner(customers.N, customers.J, LAM, VARIANCE**0.5), rng=1)
    agent.learn(customers, 1200, rng=2)
    return {
        "J": customers.J,
        "gamma": customers.gamma.round(6).tolist(),
        "theta": np.round(agent.theta, 6).tolist(),
    }


def read():
    return json.loads(FILE.read_text("utf8").partition("=")[2].rstrip(";\n"))


if __name__ == "__main__":
    data = json.dumps(made(), separators=(",", ":"))
    FILE.write_text(f"// Made by book/_ext/customers.py.\nglobalThis.CUSTOMERS = {data};\n", "utf8")
