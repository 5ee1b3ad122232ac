// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTransport
import YKWire

/// The logs are real ones: pcsc-lite 1.9.9 and ykman 5.9.2, with virtual cards behind vpcd.
@Suite struct ImportTests {
    @Test func pcscdLogOfTwoCardsAtOnce() throws {
        let sessions = try CaptureImport.sessions(in: Recordings.log("pcscd-two-cards.log"), from: .pcscd)
        #expect(
            sessions.map(\.label) == [
                "Yubico YubiKey OTP+FIDO+CCID 00 00", "Yubico YubiKey OTP+FIDO+CCID 01 00",
            ])
        for session in sessions { print("SESS", session.label); print(session.capture.text) }
    }

    @Test func spyLogs() throws {
        for name in ["pcsc-spy.log", "pcsc-spy-raw.log"] {
            let sessions = try CaptureImport.sessions(in: Recordings.log(name), from: .pcscSpy)
            for session in sessions { print("SESS", session.label); print(session.capture.text) }
        }
    }

    @Test func ykmanLogs() throws {
        for name in ["ykman-pin.log", "ykman-list.log"] {
            let sessions = try CaptureImport.sessions(in: Recordings.log(name), from: .ykman)
            for session in sessions { print("SESS", session.label); print(session.capture.text) }
        }
    }
}
