"""Screens of products that never were, rendered to train and to measure what finds icons in screenshots."""
