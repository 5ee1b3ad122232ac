// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKHTTP
import YKInventory
import YKRelyingParty
import YKTransport
import YKWire

/// Compares what two keys open.
struct Compare: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Show what one key opens and another does not.",
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

/// What one key opens and another does not.
struct ComparisonReport: Report {
    /// One of the keys.
    struct Side: Report {
        let inventory: Inventory
        let isSaved: Bool

        static let members: [Member<Side>] =
            including { $0.inventory.key } + [
                Member("time", "when it was read, seconds since 1970") { $0.inventory.time },
                Member("saved", "whether a saved inventory was read in place of the key") { $0.isSaved },
                Member("gaps", "what was not read") { $0.inventory.gaps },
            ]

        var words: String {
            inventory.key.words + (isSaved ? ", as of \(Day.text(inventory.time))" : "")
        }
    }

    /// An item of the first key.
    struct Entry: Report {
        let row: InventoryComparison.Row
        var page: String?

        static let members: [Member<Entry>] =
            including { $0.row.item } + [
                Member("verdict", "what the second key has") { $0.row.verdict },
                Member("covered") { $0.row.verdict.isCovered },
                Member("counterpart", "the name of the same secret on the second key, if it is another") {
                    $0.row.counterpart?.name
                },
                Member("page", "of a missing passkey, where to register the second key") { $0.page },
            ]
    }

    let first: Side
    let second: Side
    var entries: [Entry]
    private let comparison: InventoryComparison

    static let members: [Member<ComparisonReport>] = [
        Member("first") { $0.first }, Member("second") { $0.second },
        Member("covered", "whether the second key opens all that the first one does, as far as could be read") {
            $0.comparison.isCovered
        },
        Member("items", "what the first key opens") { $0.entries },
        Member("additional", "what only the second key opens") { $0.comparison.additional },
        Member("unknownKinds", "kinds that a saved inventory does not list, or that are unknown") {
            $0.comparison.unknownKinds
        },
    ]

    init(_ first: Inventory, _ second: Inventory, isSaved: [Bool]) {
        self.first = Side(inventory: first, isSaved: isSaved[0])
        self.second = Side(inventory: second, isSaved: isSaved[1])
        comparison = InventoryComparison(of: first, with: second)
        entries = comparison.rows.map { row in
            Entry(row: row, page: row.isMissingPasskey ? row.item.relyingParty.flatMap(Self.homePage) : nil)
        }
    }

    /// The site's home page, for sites that do not say which page registers keys.
    private static func homePage(_ rpID: String) -> String? {
        (try? HTTPURL("https://\(rpID)/")).map(\.description)
    }

    /// Asks the sites of missing passkeys for the page to register at.
    ///
    /// - Returns: Warnings about sites that could not be asked.
    mutating func addPages(_ client: any HTTPClient, _ trust: HTTPTrust) async throws -> [Warning] {
        var pages: [String: String] = [:]
        var warnings: [Warning] = []
        let sites = entries.filter { $0.page != nil }.compactMap(\.row.item.relyingParty)
        for site in Set(sites).sorted() {
            do {
                pages[site] = try await PasskeyEndpoints.fetch(site, client, trust: trust)?.enroll?.description
            } catch .http(.cancelled) { throw Explanation.interrupted } catch {
                warnings.append(
                    Warning("not-asked", "\(site.printable) could not be asked where to register: \(error.words)"))
            }
        }
        for index in entries.indices where entries[index].page != nil {
            guard let site = entries[index].row.item.relyingParty, let page = pages[site] else { continue }
            entries[index].page = page
        }
        return warnings
    }

    /// The failure for scripts: what is missing, or was not compared.
    var failure: Explanation? {
        guard !comparison.isCovered else { return nil }
        let lacking = entries.count { $0.row.verdict.isLacking }
        let message =
            lacking > 0 ? "the second key does not cover \(lacking) of \(entries.count)" : "not everything was compared"
        return Explanation("not-covered", .notFound, message)
    }

    // MARK: for people

    var lines: [String] {
        var lines = ["first   \(first.words)", "second  \(second.words)"]
        if !entries.isEmpty { lines += [""] + Table.details(entries.map(\.cells)) }
        let additional = comparison.additional
        if !additional.isEmpty {
            lines += ["", "only on the second key"]
            lines += Table.details(additional.map { [$0.kind.rawValue, $0.name.printable] }, indent: "  ")
        }
        let gaps = [("first", first), ("second", second)].flatMap { side in
            side.1.inventory.gaps.map { "\(side.0) key: \($0.words)" }
        }
        let unknown = comparison.unknownKinds
        let kinds = unknown.isEmpty ? [] : ["saved inventories do not list: \(unknown.map(\.printable).listed())"]
        if !(gaps + kinds).isEmpty { lines += ["", "not compared"] + (gaps + kinds).map { "  " + $0 }.asProse }
        return lines + [""] + summary
    }

    private var summary: [String] {
        let open = entries.filter(\.row.verdict.isLacking)
        let uncertain = entries.count { !$0.row.verdict.isCovered && !$0.row.verdict.isLacking }
        let rest = uncertain == 0 ? [] : ["\(uncertain) of \(entries.count) could not be compared"]
        guard !open.isEmpty else {
            if comparison.isCovered { return ["the second key opens everything that the first one does"] }
            return rest.isEmpty ? ["the second key opens everything that was read from the first one"] : rest
        }
        let kinds = Inventory.Kind.allCases.filter { kind in open.contains { $0.row.item.kind == kind } }
        return ["\(open.count) of \(entries.count) not covered by the second key"] + rest
            + kinds.map { "  \($0.words): \($0.advice)" }.asProse
    }
}

extension InventoryComparison.Verdict: Reportable {}

extension ComparisonReport.Entry {
    fileprivate var cells: [String] {
        let page = page.map { ", \($0.printable)" } ?? ""
        return [row.verdict.mark, row.item.kind.rawValue, row.item.name.printable, row.words + page]
    }
}

extension InventoryComparison.Row {
    fileprivate var isMissingPasskey: Bool { item.kind == .passkey && !verdict.isCovered }

    fileprivate var words: String {
        switch verdict {
        case .same: "on both keys"
        case .renamed: "same secret as '\((counterpart?.name ?? "").printable)'"
        case .own: "each has its own"
        case .named: item.kind == .passkey ? "same name, other account identifier" : "same name, secret not compared"
        case .different: "same name, but other codes"
        case .missing: "missing"
        case .unknown: "not known"
        }
    }
}

extension InventoryComparison.Verdict {
    fileprivate var mark: String {
        switch self {
        case .same, .renamed, .own: Style.green.around("ok")
        case .named, .unknown: Style.yellow.around("?")
        case .different, .missing: Style.red.around("-")
        }
    }
}

extension RelatedOriginsError {
    fileprivate var words: String {
        switch self {
        case .http(let error): Explanation(error).message
        case .unavailable(let status, _): "HTTP status \(status)"
        case .document(let error): "\(error)".printable
        }
    }
}
