print("ykit")
