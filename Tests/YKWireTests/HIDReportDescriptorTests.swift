// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import YKWire

@Suite struct HIDReportDescriptorTests {
    static let fido = "06d0f10901a1010920150026ff007508954081020921150026ff00750895409102c0"
    /// A YubiKey's keyboard: 8 bytes in, 1 out, and the feature report of 8 bytes behind which OTP is.
    static let keyboard =
        "05010906a101050719e029e71500250175019508810295017508810195057501050819012905910295017503910195067508"
        + "150025650507190029658100090375089508b102c0"
    static let mouse =
        "05010902a1010901a100050919012903150025019503750181029501750581030501093009311581257f"
        + "750895028106c0c0"

    private func descriptor(_ hex: String) throws -> HIDReportDescriptor {
        try HIDReportDescriptor(decoding: try Hex.decode(hex))
    }

    @Test func aFIDOAuthenticatorIsKnownByItsUsagePage() throws {
        let fido = try descriptor(Self.fido)
        #expect(fido.isFIDO && !fido.isOTPKeyboard && !fido.hasNumbers)
        #expect(fido.usages == [.fido] && fido.usages.first?.description == "f1d00001")
        #expect(fido.length(of: .input) == 64 && fido.length(of: .output) == 64 && fido.length(of: .feature) == 0)
        expect(fido.number(of: .output), is: 0)
    }

    @Test func theKeyboardOfAKeyHasAFeatureReportOfEightBytes() throws {
        let keyboard = try descriptor(Self.keyboard)
        #expect(keyboard.isOTPKeyboard && !keyboard.isFIDO)
        #expect(keyboard.length(of: .input) == 8 && keyboard.length(of: .output) == 1)
        expect(keyboard.length(of: .feature), is: 8)
        let mouse = try descriptor(Self.mouse)
        #expect(!mouse.isOTPKeyboard && !mouse.isFIDO && mouse.usages == [HIDUsage(page: 1, id: 2)])
        expect(mouse.length(of: .input), is: 3)
    }

    @Test func theUsagePageMayComeWithTheUsage() throws {
        // Usage F1D00001 of four bytes, without a page before it; and as the second of two collections.
        #expect(try descriptor("0b0100d0f1a101c0").isFIDO)
        try expect(descriptor("05010906a101c0" + "06d0f10901a101c0").usages, is: [.keyboard, .fido])
        // Only what is outermost counts.
        #expect(try !descriptor("05010906a101" + "06d0f10901a100c0" + "c0").isFIDO)
    }

    @Test func reportNumbersAreKept() throws {
        let numbered = try descriptor("06d0f10901a101" + "8502" + "75089540810291028503" + "95208102" + "c0")
        #expect(numbered.hasNumbers)
        #expect(numbered.length(of: .input) == 64 && numbered.number(of: .input) == 2)
        #expect(numbered.length(of: .output) == 64 && numbered.number(of: .output) == 2)
    }

    @Test func globalsArePushedAndPopped() throws {
        let pushed = try descriptor("a101" + "75089504a4" + "9508" + "8102" + "b4" + "9102" + "c0")
        #expect(pushed.length(of: .input) == 8 && pushed.length(of: .output) == 4)
    }

    @Test func longItemsArePassedOver() throws {
        #expect(try descriptor("fe03ff010203" + Self.fido).isFIDO)
    }

    @Test(arguments: [
        ("06d0", WireError.Code.truncated), ("fe05ff01", .truncated), ("fe", .truncated),
        ("06d0f10901a101", .truncated), ("c0", .malformed), ("b4", .malformed), ("8500", .malformed),
        ("860001", .malformed),
        ("77ffffffff97ffffffff8102", .tooLarge), ("7708000000" + "97ffffff7f" + "8102", .tooLarge),
        ("750896ff3f8102" + "8102", .tooLarge),
        (String(repeating: "a101", count: 65), .tooDeep), (String(repeating: "a4", count: 65), .tooDeep),
        (String(repeating: "00", count: 4097), .tooLarge),
    ])
    func whatMakesNoSenseIsRefused(_ hex: String, _ code: WireError.Code) throws {
        let bytes = try Hex.decode(hex)
        do {
            _ = try HIDReportDescriptor(decoding: bytes)
            Issue.record("\(hex) was read")
        } catch { expect(error.code, is: code) }
    }

    @Test func noBytesTrap() {
        var generator = SeededGenerator(seed: 0x4849_4400)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            guard let descriptor = try? HIDReportDescriptor(decoding: bytes) else { continue }
            #expect(descriptor.length(of: .input) <= 16384 && descriptor.length(of: .feature) <= 16384)
        }
    }
}
