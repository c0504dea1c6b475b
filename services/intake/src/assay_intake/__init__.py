"""Intake: evidence in, ① capture, ② receipt and ③ the first job, made durable before the client hears of them."""
