"""What the benchmark of languages calls: nothing but the way there and back."""

import guildhall


@guildhall.on_rpc("echo")
def echo(_ctx, body):
    return body
