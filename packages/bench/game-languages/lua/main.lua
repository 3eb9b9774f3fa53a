-- What the benchmark of languages calls: nothing but the way there and back.
guildhall.on_rpc("echo", function(_, body) return body end)
