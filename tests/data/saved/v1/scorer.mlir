"dy2st.model"() <{format = 1 : i64, producer = "dy2st 0.1.0"}> ({
  "dy2st.program"() <{
    name = "forward",
    symbols = {batch = [0], length = [0]},
    inputs = ["x", "mask"],
    parameters = ["embed.weight", "embed.bias", "norm.weight", "norm.bias", "head.weight", "head.bias"],
    buffers = ["norm._mean", "norm._variance", "limit"],
    trainable = ["embed.weight", "embed.bias", "norm.weight", "norm.bias", "head.weight", "head.bias"],
    constraints = [
      {at = loc("scorer.py":18:42), condition = #dy2st.condition<"length - 1 >= 0">, reason = "a window of 3 must fit the size length"}
    ],
    structure = #dy2st.dict<[["scores", #dy2st.output<0>], ["turns", #dy2st.output<1, number>], ["batch", #dy2st.list<[#dy2st.output<2, number>, unit]>]]>
  }> ({
  ^bb0(%x: tensor<?x3x?xf32, ["batch", "length"]>, %mask: tensor<?x?xi1, ["batch", "length"]>, %embed.weight: tensor<4x3x3xf32>, %embed.bias: tensor<4xf32>, %norm.weight: tensor<4xf32>, %norm.bias: tensor<4xf32>, %head.weight: tensor<4x2xf32>, %head.bias: tensor<2xf32>, %norm._mean: tensor<4xf32>, %norm._variance: tensor<4xf32>, %limit: tensor<f32>):
    %0 = "dy2st.conv"(%x, %embed.weight) {dilations = [1], groups = 1 : i64, pads = [[1, 1]], strides = [1]} : (tensor<?x3x?xf32, ["batch", "length"]>, tensor<4x3x3xf32>) -> tensor<?x4x?xf32, ["batch", "length"]> loc("scorer.py":18:42)
    %1 = "dy2st.reshape"(%embed.bias) {shape = [1, 4, 1]} : (tensor<4xf32>) -> tensor<1x4x1xf32> loc("scorer.py":18:42)
    %2 = "dy2st.add"(%0, %1) : (tensor<?x4x?xf32, ["batch", "length"]>, tensor<1x4x1xf32>) -> tensor<?x4x?xf32, ["batch", "length"]> loc("scorer.py":18:42)
    %3 = "dy2st.batch_norm"(%2, %norm._mean, %norm._variance, %norm.weight, %norm.bias) {axis = 1 : i64, epsilon = 1.0e-05 : f64} : (tensor<?x4x?xf32, ["batch", "length"]>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x?xf32, ["batch", "length"]> loc("scorer.py":18:32)
    %4 = "dy2st.relu"(%3) : (tensor<?x4x?xf32, ["batch", "length"]>) -> tensor<?x4x?xf32, ["batch", "length"]> loc("scorer.py":18:13)
    %5 = "dy2st.reshape"(%mask) {shape = [#dy2st.dim<"batch">, 1, #dy2st.dim<"length">]} : (tensor<?x?xi1, ["batch", "length"]>) -> tensor<?x1x?xi1, ["batch", "length"]> loc("scorer.py":19:25)
    %6 = "dy2st.full"() {dtype = f32, shape = [#dy2st.dim<"batch">, 4, #dy2st.dim<"length">], value = 0 : i64} : () -> tensor<?x4x?xf32, ["batch", "length"]> loc("scorer.py":19:47)
    %7 = "dy2st.where"(%5, %4, %6) : (tensor<?x1x?xi1, ["batch", "length"]>, tensor<?x4x?xf32, ["batch", "length"]>, tensor<?x4x?xf32, ["batch", "length"]>) -> tensor<?x4x?xf32, ["batch", "length"]> loc("scorer.py":19:13)
    %8 = "dy2st.sum"(%7) {axis = [2], keepdim = false} : (tensor<?x4x?xf32, ["batch", "length"]>) -> tensor<?x4xf32, ["batch"]> loc("scorer.py":20:28)
    %9 = "dy2st.matmul"(%8, %head.weight) : (tensor<?x4xf32, ["batch"]>, tensor<4x2xf32>) -> tensor<?x2xf32, ["batch"]> loc("scorer.py":20:18)
    %10 = "dy2st.add"(%9, %head.bias) : (tensor<?x2xf32, ["batch"]>, tensor<2xf32>) -> tensor<?x2xf32, ["batch"]> loc("scorer.py":20:18)
    %11 = "dy2st.constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64> loc("scorer.py":22:9)
    %12, %13 = "dy2st.while"(%10, %11, %limit) ({
    ^bb0(%14: tensor<?x2xf32, ["batch"]>, %15: tensor<i64>, %limit_1: tensor<f32>):
      %16 = "dy2st.abs"(%14) : (tensor<?x2xf32, ["batch"]>) -> tensor<?x2xf32, ["batch"]> loc("scorer.py":22:15)
      %17 = "dy2st.max"(%16) {axis = [0, 1], keepdim = false} : (tensor<?x2xf32, ["batch"]>) -> tensor<f32> loc("scorer.py":22:15)
      %18 = "dy2st.greater_than"(%17, %limit_1) : (tensor<f32>, tensor<f32>) -> tensor<i1> loc("scorer.py":22:15)
      "dy2st.yield"(%18) : (tensor<i1>) -> ()
    }, {
    ^bb0(%19: tensor<?x2xf32, ["batch"]>, %20: tensor<i64>, %limit_2: tensor<f32>):
      %21 = "dy2st.sum"(%19) {axis = [0, 1], keepdim = false} : (tensor<?x2xf32, ["batch"]>) -> tensor<f32> loc("scorer.py":23:16)
      %22 = "dy2st.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32> loc("scorer.py":23:16)
      %23 = "dy2st.greater_than"(%21, %22) : (tensor<f32>, tensor<f32>) -> tensor<i1> loc("scorer.py":23:16)
      %24 = "dy2st.cond"(%23, %19) ({
      ^bb0(%25: tensor<?x2xf32, ["batch"]>):
        %26 = "dy2st.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32> loc("scorer.py":24:26)
        %27 = "dy2st.divide"(%25, %26) : (tensor<?x2xf32, ["batch"]>, tensor<f32>) -> tensor<?x2xf32, ["batch"]> loc("scorer.py":24:26)
        "dy2st.yield"(%27) : (tensor<?x2xf32, ["batch"]>) -> ()
      }, {
      ^bb0(%28: tensor<?x2xf32, ["batch"]>):
        %29 = "dy2st.constant"() {value = dense<0.75> : tensor<f32>} : () -> tensor<f32> loc("scorer.py":26:26)
        %30 = "dy2st.multiply"(%28, %29) : (tensor<?x2xf32, ["batch"]>, tensor<f32>) -> tensor<?x2xf32, ["batch"]> loc("scorer.py":26:26)
        "dy2st.yield"(%30) : (tensor<?x2xf32, ["batch"]>) -> ()
      }) : (tensor<i1>, tensor<?x2xf32, ["batch"]>) -> tensor<?x2xf32, ["batch"]> loc("scorer.py":23:13)
      %31 = "dy2st.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64> loc("scorer.py":27:13)
      %32 = "dy2st.add"(%20, %31) : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("scorer.py":27:13)
      "dy2st.yield"(%24, %32) : (tensor<?x2xf32, ["batch"]>, tensor<i64>) -> ()
    }) : (tensor<?x2xf32, ["batch"]>, tensor<i64>, tensor<f32>) -> (tensor<?x2xf32, ["batch"]>, tensor<i64>) loc("scorer.py":22:9)
    %33 = "dy2st.from_dim"() {dtype = i64, value = #dy2st.dim<"batch">} : () -> tensor<i64> loc("scorer.py":38:1)
    "dy2st.return"(%12, %13, %33) : (tensor<?x2xf32, ["batch"]>, tensor<i64>, tensor<i64>) -> ()
  }) : () -> ()
}) : () -> ()
