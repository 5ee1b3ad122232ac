// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Any table with a column of otpauth URIs or secrets, which the user names or chooses. Other columns are known by their
/// usual names.
enum TableExport: ExportFormat {
    static let format = AuthenticatorExport.Format.table

    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let table = file.table else {
            if let name = file.column { throw .noSuchColumn(name, []) }
            return nil
        }
        let layout = Layout(table)
        if let name = file.column {
            guard let column = layout.column(name) else {
                throw .noSuchColumn(name, layout.candidates)
            }
            return AuthenticatorExport(format) { () throws(ExportError) in layout.entries(column) }
        }
        // Lines that are URIs may contain separators.
        let isList = ([table.header] + table.rows).contains { $0[0].isCode && ($0.count == 1 || $0 == table.header) }
        let candidates = layout.candidates
        guard !candidates.isEmpty, !isList else { return nil }
        return AuthenticatorExport(format, columns: candidates) { column in layout.entries(column) }
    }

    /// The columns of a table, by purpose.
    private struct Layout {
        let table: CSVTable
        let rows: [[String]]
        let names: [String]

        /// A table without a header begins with its first account; its columns have numbers only.
        init(_ table: CSVTable) {
            self.table = table
            let hasHeader = !table.header.contains { $0.isCode || $0.isSecret }
            rows = hasHeader ? table.rows : [table.header] + table.rows
            names = hasHeader ? table.header.map(\.trimmed) : table.header.map { _ in "" }
        }

        /// The columns with otpauth URIs, then those in which every text is a secret: first those whose names say so, last
        /// those of passwords, which can look like base 32.
        var candidates: [AuthenticatorExport.Column] {
            let all = names.indices.map { describe($0) }
            let secrets = all.filter { $0.content == .secrets }
            let ranks = secrets.map { rank($0.name) }
            return all.filter { $0.content == .uris }
                + (0...2).flatMap { wanted in zip(secrets, ranks).filter { $0.1 == wanted }.map(\.0) }
        }

        private func rank(_ name: String) -> Int {
            let name = plain(name)
            if ["otp", "secret", "2fa", "seed"].contains(where: { name.contains(bytesOf: $0) }) || name == "key" {
                return 0
            }
            return name.contains(bytesOf: "pass") || name == "pin" ? 2 : 1
        }

        /// The column with accounts that has this name, ignoring case if none has it as it is, or this number.
        func column(_ wanted: String) -> AuthenticatorExport.Column? {
            let exact = names.indices.filter { names[$0] == wanted }
            let similar = names.indices.filter { names[$0].lowercased() == wanted.trimmed.lowercased() }
            let numbered = Int(wanted).map { $0 - 1 }.flatMap { names.indices.contains($0) ? $0 : nil }
            let named = exact + similar
            return (named.isEmpty ? [numbered].compactMap { $0 } : named).map(describe).first(where: mayHaveAccounts)
        }

        /// Whether the column that the user named has at least one URI or secret; otherwise it is one with passwords or
        /// names.
        private func mayHaveAccounts(_ column: AuthenticatorExport.Column) -> Bool {
            rows.contains { row in
                let text = column.number <= row.count ? row[column.number - 1].trimmed : ""
                return text.isCode || text.lowercased().hasPrefix("key=") || text.isShortSecret
            }
        }

        private func describe(_ index: Int) -> AuthenticatorExport.Column {
            let texts = rows.compactMap { index < $0.count ? $0[index].trimmed : nil }.filter { !$0.isEmpty }
            let hasURI = texts.contains { $0.isCode }
            let isSecret = !hasURI && !texts.isEmpty && texts.allSatisfy { $0.isSecret }
            return AuthenticatorExport.Column(
                name: names[index], number: index + 1, content: hasURI ? .uris : isSecret ? .secrets : .other,
                count: texts.count)
        }

        /// The accounts of the rows that have text in the column. Title and user are, in each row, those of the best
        /// column that has text there.
        func entries(_ column: AuthenticatorExport.Column) -> [AuthenticatorExport.Entry] {
            let place = column.number - 1
            let isUserElsewhere = TableExport.logins.contains { index(of: [$0], besides: [place]) != nil }
            let titles =
                TableExport.titles
                + (isUserElsewhere ? ["account"] + TableExport.sites : TableExport.sites + ["account"])
            let (titleColumns, userColumns) = (indices(of: titles, place), indices(of: TableExport.users, place))
            let others = [["type", "otptype"], ["algorithm", "algo"], ["digits"], TableExport.periods, ["counter"]]
            let fields = others.map { index(of: $0, besides: [place]) }
            return rows.enumerated().compactMap { line, row in
                func field(_ index: Int?) -> String? { index.flatMap { $0 < row.count ? row[$0].trimmed : nil } }
                let title = titleColumns.first { field($0)?.isEmpty == false }
                let user = userColumns.first { $0 != title && field($0)?.isEmpty == false }
                let code: String
                switch table.code(of: row, in: place) {
                case .none: return nil
                case .text(let text): code = text
                case .uri(let uri): return ExportFields.entry(code: uri, title: nil, user: nil)
                case .shifted(let error):
                    let first = names.contains { !$0.isEmpty } ? 2 : 1
                    return .init(label: "row \(line + first)", account: .failure(error))
                }
                if code.isCode || code.lowercased().hasPrefix("key=") {
                    return ExportFields.entry(code: code, title: field(title), user: field(user))
                }
                let name = field(user)
                let number = { field(fields[$0]).map { JSONValue.string($0) } }
                return ExportFields(
                    type: field(fields[0]).flatMap { TableExport.types.contains($0.lowercased()) ? $0 : nil } ?? "totp",
                    issuer: name == nil ? nil : field(title), name: name ?? field(title),
                    secret: code.utf8.count < 8 ? .bytes(nil) : .base32(code),
                    algorithm: field(fields[1]), digits: number(2), period: number(3), counter: number(4)
                ).entry
            }
        }

        /// All columns with these names, the best first.
        private func indices(of known: [String], _ place: Int) -> [Int] {
            known.flatMap { name in names.indices.filter { $0 != place && plain(names[$0]) == name } }
        }

        private func index(of known: [String], besides others: [Int]) -> Int? {
            for name in known {
                if let index = names.indices.first(where: { !others.contains($0) && plain(names[$0]) == name }) {
                    return index
                }
            }
            return nil
        }

        private func plain(_ name: String) -> String {
            String(name.lowercased().filter { $0.isLetter || $0.isNumber })
        }
    }

    /// The usual names of the columns with the issuer and with the account, the best first.
    private static let titles = ["issuer", "service", "title", "name"]
    private static let sites = ["site", "website", "url"]
    private static let periods = ["period", "step", "interval", "timestep"]
    /// A column with other values, such as "login", has the program's own types.
    private static let types: Set<String> = ["totp", "hotp", "steam"]
    private static let logins = ["username", "loginusername", "loginname", "user", "login"]
    private static let users = logins + ["account", "accountname", "email", "emailaddress", "name"]
}

extension String {
    /// Whether it is a URI that codes are computed from.
    fileprivate var isCode: Bool {
        let start = String(trimmed.prefix(10)).lowercased()
        return start.hasPrefix("otpauth://") || start.hasPrefix("steam://")
    }

    /// Whether it is a secret in base 32, of at least ten bytes as services issue them.
    fileprivate var isSecret: Bool { (16...1024).contains(utf8.count) && (try? Base32.decode(self))?.count ?? 0 >= 10 }

    /// Whether it is a secret in base 32, of at least five bytes.
    fileprivate var isShortSecret: Bool { (8...1024).contains(utf8.count) && (try? Base32.decode(self)) != nil }
}

extension AuthenticatorExport.Format {
    /// A table of any program.
    public static let table = Self(
        "CSV", plain: "any table with a header", note: "--column names the column with the otpauth URIs or secrets")
}
