"""What a logistic regression learned on real sites whose own links had been hidden, each feature held to raise the
score or leave it; made anew by tests/bench/learn_weights.py."""

BIAS = -7.917
WEIGHTS = (
    (0.000, 1.495, 0.000, 0.000, 0.987, 0.962, 2.295, 0.785, 0.000, 0.000, 0.173, 1.100, 0.060),
    (0.000, 0.307, 0.031, 0.615, 0.000, 0.000, 0.168, 0.000, 0.000, 0.022, 0.134, 0.094, 0.483),
)
"""For each feature, what it counts by itself and by how far it stands out among the page's candidates."""
