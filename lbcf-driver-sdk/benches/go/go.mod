module lbcf-bench-driver

go 1.22
