// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The processes connected to pcscd. pcscd does not report which one holds a card, so these are the candidates.
enum ServiceClients {
    /// The processes connected to the socket at `path`, without this one.
    ///
    /// The kernel reports which sockets were accepted there and their peers. Where it does not (containers without
    /// socket diagnosis), every process that has libpcsclite loaded and a socket open counts.
    static func others(of path: String) -> [LinkError.Holder] {
        let pids = Processes.others()
        if let peers = SocketDiagnosis.peers(of: path) {
            return pids.filter { !sockets(of: $0).isDisjoint(with: peers) }.map(Processes.holder)
        }
        return pids.filter { usesLibrary($0) && !sockets(of: $0).isEmpty }.map(Processes.holder)
    }

    /// Whether libpcsclite is loaded in a process.
    static func usesLibrary(_ pid: Int32) -> Bool {
        SystemFile.text("/proc/\(pid)/maps", limit: 4 << 20)?.contains(bytesOf: "/libpcsclite") ?? false
    }

    /// The inodes of the sockets that a process has open; empty for another user's process.
    static func sockets(of pid: Int32) -> Set<UInt32> {
        Set(
            Processes.open(by: pid).compactMap { file in
                file.hasPrefix("socket:[") ? UInt32(file.dropFirst(8).dropLast()) : nil
            })
    }
}
