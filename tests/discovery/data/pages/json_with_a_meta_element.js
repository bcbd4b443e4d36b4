{"html": "<meta charset=gbk><a href='/x'>x</a>"}
