"""A go-between in the place of an engine's socket: what a console and the real engine say to each other passes through it."""
import os
import socket
import threading


class Between:
    def __init__(self, home):
        self.path = os.path.join(home.state, "weird.sock")
        os.rename(self.path, self.path + ".real")
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            engine = socket.socket(socket.AF_UNIX)
            engine.connect(self.path + ".real")
            threading.Thread(target=self.pass_lines, args=(client, engine, self.call), daemon=True).start()
            threading.Thread(target=self.pass_lines, args=(engine, client, self.answer), daemon=True).start()

    def pass_lines(self, source, to, change):
        try:
            for line in source.makefile("rb"):
                to.sendall(change(line))
            to.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def call(self, line):
        return line

    def answer(self, line):
        return line

    def end(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        os.rename(self.path + ".real", self.path)
