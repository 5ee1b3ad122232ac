// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The kernel's virtual USB host controller (module vhci-hcd), which accepts a device at the other end of a socket.
struct VirtualHostController {
    /// Its folder in sysfs.
    var folder = "/sys/devices/platform/vhci_hcd.0"

    /// The device's end of the socket, and the port that it is plugged into.
    struct Plug {
        var descriptor: Int32
        var port: Int
    }

    /// Plugs a full-speed device into the first free port.
    func attach() throws(USBIPError) -> Plug {
        let port = try freePort()
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw failure("socketpair")
        }
        defer { close(ends[1]) }
        let path = "\(folder)/attach"
        // Bus 1, device 2; speed 2 is full speed.
        guard write("\(port) \(ends[1]) 65538 2", to: path) else {
            let failure = failure(path)
            close(ends[0])
            throw failure
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return Plug(descriptor: ends[0], port: port)
    }

    /// Finds the first port of the high-speed hub in state 004, from lines of the form "hub port state …".
    private func freePort() throws(USBIPError) -> Int {
        let path = "\(folder)/status"
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure(path) }
        defer { close(file) }
        var block = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &block, block.count)
        let lines = String(decoding: block.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count > 2, words[0] == "hs", words[2] == "004", let port = Int(words[1]) else { continue }
            return port
        }
        throw .noPort
    }

    private func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }

    private func failure(_ path: String) -> USBIPError {
        switch errno {
        case ENOENT, ENODEV: .missing(path: path)
        case EACCES, EPERM: .denied(path: path)
        default: .failed(path: path, errno: errno, String(cString: strerror(errno)))
        }
    }
}
