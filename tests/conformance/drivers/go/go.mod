module example.com/lbcf-driver

go 1.23
