// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What systemd-logind says of the session that this program runs in, and of the seat (sd-login(3)): it gives device
/// nodes to the session that is active at a seat, and to no other.
package struct LoginFacts: Sendable, Hashable {
    /// A session.
    package struct Session: Sendable, Hashable {
        /// Its name.
        package var id: String
        /// The seat that it is at; `nil` for one over the network.
        package var seat: String?
        /// Whether it is the one that the seat shows just now.
        package var isActive: Bool
        /// Whether it came over the network.
        package var isRemote: Bool

        package init(id: String, seat: String? = nil, isActive: Bool = false, isRemote: Bool = false) {
            self.id = id
            self.seat = seat
            self.isActive = isActive
            self.isRemote = isRemote
        }
    }

    /// Whether logind runs.
    package var isThere: Bool
    /// The session of this process; services and jobs have none.
    package var session: Session?
    /// Who is at the first seat just now.
    package var activeUser: String?

    package init(isThere: Bool = false, session: Session? = nil, activeUser: String? = nil) {
        self.isThere = isThere
        self.session = session
        self.activeUser = activeUser
    }

    /// Reads the files that logind keeps below `root`.
    package static func find(
        root: String = "", variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }
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

    /// What stands between two words on one line of a text such as `0::/user.slice/user-1000.slice/session-2.scope`.
    private static func name(in text: String, after start: String, before end: String) -> String? {
        for folder in text.split(whereSeparator: { $0 == "/" || $0 == "\n" }) {
            guard folder.hasPrefix(start), folder.hasSuffix(end) else { continue }
            return String(folder.dropFirst(start.count).dropLast(end.count))
        }
        return nil
    }
}
