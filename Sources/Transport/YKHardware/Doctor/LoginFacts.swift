// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The session of this program and the seat according to systemd-logind (sd-login(3)), which grants device nodes only
/// to the active session of a seat.
package struct LoginFacts: Sendable, Hashable {
    /// A session.
    package struct Session: Sendable, Hashable {
        /// Its name.
        package var id: String
        /// The seat of the session; `nil` for a network session.
        package var seat: String?
        /// Whether it is the active session of the seat.
        package var isActive: Bool
        /// Whether it is a network session.
        package var isRemote: Bool

        package init(id: String, seat: String? = nil, isActive: Bool = false, isRemote: Bool = false) {
            self.id = id
            self.seat = seat
            self.isActive = isActive
            self.isRemote = isRemote
        }
    }

    /// Whether logind is running.
    package var isThere: Bool
    /// The session of this process; services and jobs have none.
    package var session: Session?
    /// The user who is active at the first seat.
    package var activeUser: String?

    package init(isThere: Bool = false, session: Session? = nil, activeUser: String? = nil) {
        self.isThere = isThere
        self.session = session
        self.activeUser = activeUser
    }

    /// Reads the state files of logind below `root`.
    package static func find(
        root: String = "", variable: (String) -> String? = { ProcessVariables[$0] }
    ) -> LoginFacts {
        let folder = "\(root)/run/systemd"
        guard SystemFile.real("\(folder)/seats") != nil else { return LoginFacts() }
        let groups = SystemFile.text("\(root)/proc/self/cgroup") ?? ""
        let id =
            name(in: groups, after: "session-", before: ".scope")
            ?? name(in: groups, after: "user@", before: ".service").flatMap { user in
                facts("\(folder)/users/\(user)")["DISPLAY"]
            } ?? variable("XDG_SESSION_ID")
        let active = facts("\(folder)/seats/seat0")["ACTIVE_UID"].flatMap { UInt32($0) }.map(Accounts.user)
        return LoginFacts(isThere: true, session: id.flatMap { session($0, folder) }, activeUser: active)
    }

    /// The number of the user who is active at the first seat; `nil` for nobody, or without logind.
    package static func activeNumber(root: String = "") -> UInt32? {
        facts("\(root)/run/systemd/seats/seat0")["ACTIVE_UID"].flatMap { UInt32($0) }
    }

    private static func session(_ id: String, _ folder: String) -> Session? {
        guard !id.contains("/") else { return nil }
        let facts = facts("\(folder)/sessions/\(id)")
        guard !facts.isEmpty else { return nil }
        return Session(
            id: id, seat: facts["SEAT"], isActive: facts["ACTIVE"] == "1", isRemote: facts["REMOTE"] == "1")
    }

    private static func facts(_ path: String) -> [String: String] {
        HIDDevice.variables(SystemFile.text(path) ?? "")
    }

    /// The text between two markers on one line, as in `0::/user.slice/user-1000.slice/session-2.scope`.
    private static func name(in text: String, after start: String, before end: String) -> String? {
        for folder in text.split(whereSeparator: { $0 == "/" || $0 == "\n" }) {
            guard folder.hasPrefix(start), folder.hasSuffix(end) else { continue }
            return String(folder.dropFirst(start.count).dropLast(end.count))
        }
        return nil
    }
}
