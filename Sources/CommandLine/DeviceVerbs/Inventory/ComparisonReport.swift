// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKHTTP
import YKInventory
import YKRelyingParty
import YKTransport
import YKWire

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
