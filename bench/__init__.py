"""Measurements that can fail: budgets against baselines, and recall on real conversations."""
