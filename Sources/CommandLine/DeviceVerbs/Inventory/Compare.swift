// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKHTTP
import YKInventory
import YKRelyingParty
import YKWire

/// Compares what two keys open.
struct Compare: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "compare", "Show what one key opens and another does not.",
        discussion: """
            Each key is named by its serial number, the state file of a virtual key, or an inventory that 'ykit inventory' has \
            saved. Two keys cover each other if both have the same secret, or each its own credential for the same account, \
            login or volume. OATH accounts are compared by codes for two times long past, OTP slots that answer without a \
            touch by one challenge. Nothing is written to the keys, and no touch is required. Passkeys are compared with \
            --passkeys, which asks for the PIN of each key.
            """,
        examples: [
            Example("ykit compare 12345678 23456789", "Compare two keys that are plugged in."),
            Example("ykit compare first.json second.json", "Compare two saved inventories."),
            Example("ykit compare first.json 23456789 --passkeys --online", "Ask the sites where to register."),
        ])

    @Argument("first", help: "The key that is in use: a serial number or a file.", completion: .file) var first: String
    @Argument("second", help: "The spare key: a serial number or a file.", completion: .file) var second: String

    @Flag("--passkeys", help: "Also list passkeys; requires the PIN.") var passkeys = false

    @Flag("--online", help: "Ask the sites of missing passkeys for the page to register at; they learn that you asked.")
    var online = false

    @Flag("--exit-status", help: "Exit with 12 unless everything was compared and the second key covers all of it.")
    var exitStatus = false

    @Option("--ca <file>", help: "Trust the authorities in this PEM file instead of the system's.")
    var ca: String?

    @Option(
        "--first-pin-fd <n>",
        help: "Read the PIN of the first key from this open file descriptor; or set YKIT_FIDO_PIN_SERIAL.")
    var firstPinFd: Int32?

    @Option(
        "--second-pin-fd <n>",
        help: "Read the PIN of the second key from this open file descriptor; or set YKIT_FIDO_PIN_SERIAL.")
    var secondPinFd: Int32?

    @OptionGroup var files: InventoryFiles

    func check() throws {
        try files.check()
        if firstPinFd != nil || secondPinFd != nil, !passkeys {
            throw UsageError("the PIN options require --passkeys")
        }
        if let firstPinFd, firstPinFd == secondPinFd { throw UsageError("each PIN needs its own descriptor") }
        if ca != nil, !online { throw UsageError("--ca requires --online") }
    }

    func run(in run: Run) async throws -> Outcome<ComparisonReport> {
        let saved = try [first, second].map(Self.saved)
        let references = saved.contains(nil) ? try files.references(run) : []
        var warnings: [Warning] = []
        var inventories: [Inventory] = []
        for (index, name) in [first, second].enumerated() {
            if let inventory = saved[index] {
                inventories.append(inventory)
                continue
            }
            let option = index == 0 ? ("--first-pin-fd", firstPinFd) : ("--second-pin-fd", secondPinFd)
            let other = try run.besides(name)
            let reading = try await other.inventory(references, pin: passkeys ? Self.pin(option) : nil)
            warnings += reading.warnings
            inventories.append(reading.inventory)
        }
        if saved == [nil, nil], let serial = inventories[0].key.serial, serial == inventories[1].key.serial {
            throw Explanation.usage("both are the key \(serial.printable)", hint: "name two keys: ykit list")
        }
        var report = ComparisonReport(inventories[0], inventories[1], isSaved: saved.map { $0 != nil })
        if online { warnings += try await report.addPages(try run.http(), HTTPTrust(authorities: ca)) }
        var outcome = Outcome(report, report.lines)
        outcome.answer.warnings = warnings
        if exitStatus { outcome.answer.failure = report.failure }
        return outcome
    }

    /// Returns the PIN options for one of the keys; only variables with its serial number apply.
    private static func pin(_ option: (name: String, descriptor: Int32?)) -> PINOptions {
        var pin = PINOptions()
        pin.places.descriptor = option.descriptor
        pin.places.own = "give the PIN with \(option.name) N"
        return pin
    }

    /// Reads an inventory; `nil` for a key.
    private static func saved(_ name: String) throws -> Inventory? {
        guard Files.isFile(name) else { return nil }
        let bytes = try Files.read(name)
        guard Inventory.isInventory(bytes) else { return nil }
        do { return try Inventory(parsing: bytes) } catch { throw Concerning(.file(name), error) }
    }
}
