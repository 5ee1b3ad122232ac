// SPDX-License-Identifier: Apache-2.0

import Foundation
import YKTestSupport

@testable import YKHardware

/// Another program that holds a card until it is ended: this test's own bundle cannot be it, so it is a little Python.
final class Holder {
    private static let program = """
        import ctypes, os, sys
        mode, reader, name = sys.argv[1:]
        pcsc = ctypes.CDLL("libpcsclite.so.1")
        context, card, active = ctypes.c_long(), ctypes.c_long(), ctypes.c_ulong()
        pcsc.SCardEstablishContext(2, None, None, ctypes.byref(context))
        share = 1 if mode == "exclusive" else 2
        code = pcsc.SCardConnect(context, reader.encode(), share, 3, ctypes.byref(card), ctypes.byref(active))
        if code == 0 and mode == "transaction":
            code = pcsc.SCardBeginTransaction(card)
        with open("/proc/self/comm", "w") as file:
            file.write(name)
        print(code, flush=True)
        sys.stdin.read()
        """

    let name = "ykit-holder"
    private let process = Process()
    private let leash = Pipe()

    var pid: Int32 { process.processIdentifier }

    /// Starts the program and waits until it has the card.
    init(_ lab: Lab, sharing mode: String) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.program, mode, lab.readers[0], name]
        process.environment = ProcessInfo.processInfo.environment.merging(lab.sandbox.environment) { $1 }
        process.standardInput = leash
        process.standardOutput = output
        try process.run()
        let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard answer.trimmingCharacters(in: .newlines) == "0" else {
            end()
            throw PCSCDSandbox.Failure(description: "the holder got \(answer)")
        }
    }

    func end() {
        guard process.isRunning else { return }
        try? leash.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
