"""The OPU, an FPGA overlay processor for convolutional networks: quantise, compile, simulate."""
