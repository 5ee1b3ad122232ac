// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKTestSupport
import YKVirtualKey

@testable import DeviceVerbs
@testable import TerminalIO

/// How the user of a served key is simulated.
@Suite(.serialized) struct TouchSimulatorTests {
    private func simulator(_ choice: TouchChoice) -> TouchSimulator { TouchSimulator(choice, Terminal()) }

    @Test("the values of --touch") func choices() {
        let choices: [(String, TouchChoice)] = [
            ("yes", .yes), ("no", .no), ("never", .never), ("ask", .ask), ("signal", .signal),
            ("20ms", .after(.milliseconds(20))), ("2s", .after(.seconds(2))), ("1.5", .after(.milliseconds(1500))),
            ("0", .after(.zero)),
        ]
        for (text, choice) in choices { expect(TouchChoice(argument: text), is: choice, "\(text)") }
        for text in ["", "maybe", "-1", "-1ms", "1.5ms", "1e9", "nan", "ms", "s"] {
            expect(TouchChoice(argument: text), is: nil, "\(text)")
        }
    }

    @Test("a touch at once, none, and one that never comes") func fixed() {
        for (choice, touch) in [(TouchChoice.yes, VirtualInputs.Touch.touched), (.no, .notTouched), (.never, .pending)]
        {
            let simulator = simulator(choice)
            for _ in 0..<2 { #expect(simulator.touch([0x61]) == touch && simulator.press() == nil) }
        }
    }

    @Test("a touch some time after the key began to wait") func later() {
        expect(simulator(.after(.zero)).touch([0x61]), is: .touched)
        let simulator = simulator(.after(.seconds(3600)))
        for _ in 0..<3 { expect(simulator.touch([0x61]), is: .pending) }
    }

    @Test("a signal touches a key that waits, or types a slot of one that does not") func signals() async throws {
        let simulator = simulator(.signal)
        defer {
            signal(SIGUSR1, SIG_DFL)
            signal(SIGUSR2, SIG_DFL)
        }
        expect(simulator.press(), is: nil)
        kill(getpid(), SIGUSR2)
        #expect(try await first { simulator.press() } == 2 && simulator.press() == nil)
        kill(getpid(), SIGUSR1)
        #expect(try await first { simulator.press() } == 1 && simulator.press() == nil)
        expect(simulator.touch([0x61]), is: .pending)
        kill(getpid(), SIGUSR1)
        let touch = try await first { simulator.touch([0x61]) == .touched ? true : nil }
        #expect(touch == true && simulator.press() == nil, "the touch was for what the key waited for")
    }

    /// The first value, once the process has taken its signal.
    private func first<Value>(_ value: () -> Value?) async throws -> Value? {
        for _ in 0..<500 {
            if let value = value() { return value }
            try await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }
}
