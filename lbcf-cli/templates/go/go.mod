module example.com/__NAME__ // FILL-IN: the path of your repository

go 1.23
