"""The superstep loop: messages, exchange, allocation, and primitives that run on several GPUs at once."""
