// SPDX-License-Identifier: Apache-2.0

import CUSB

/// The transfers that were begun on a node and have not ended: at most one for each endpoint. Their memory is theirs until
/// the kernel has given them back, or the node is closed.
struct USBTransfers {
    /// Which endpoint a transfer is for.
    enum Role: Hashable, Sendable {
        case output, input, interrupt
    }

    /// A transfer that has ended.
    struct Ended {
        var role: Role
        /// 0, or an error number.
        var status: Int32
        /// How many bytes went or came.
        var count: Int
        /// What came.
        var data: [UInt8]
    }

    private struct Begun {
        var role: Role
        var transfer: OpaquePointer
        var size: Int32
    }

    private let node: Int32
    private var begun: [Begun] = []

    init(_ node: Int32) { self.node = node }

    /// Whether nothing is under way.
    var isEmpty: Bool { begun.isEmpty }

    /// Whether a transfer for an endpoint is under way.
    func has(_ role: Role) -> Bool { begun.contains { $0.role == role } }

    /// Begins a transfer; false with errno when it cannot.
    mutating func start(_ role: Role, _ endpoint: UInt8, _ data: [UInt8]?, _ size: Int) -> Bool {
        let size = Int32(clamping: size)
        guard let transfer = ykit_usb_start(node, role == .interrupt ? 1 : 0, endpoint, data, size) else {
            return false
        }
        begun.append(Begun(role: role, transfer: transfer, size: size))
        return true
    }

    /// Takes one that has ended; `nil` when there is none just now.
    mutating func next() -> Ended? {
        guard let transfer = ykit_usb_ended(node), let index = begun.firstIndex(where: { $0.transfer == transfer })
        else { return nil }
        let one = begun.remove(at: index)
        defer { ykit_usb_free(transfer, one.size) }
        let count = min(max(0, Int(ykit_usb_count(transfer))), Int(one.size))
        let data = UnsafeBufferPointer(start: ykit_usb_data(transfer), count: one.role == .output ? 0 : count)
        return Ended(role: one.role, status: ykit_usb_status(transfer), count: count, data: Array(data))
    }

    /// Calls those of an endpoint off; they have still to end.
    func discard(_ role: Role) {
        for one in begun where one.role == role { _ = ykit_usb_discard(node, one.transfer) }
    }

    /// Calls all off.
    func discardAll() {
        for one in begun { _ = ykit_usb_discard(node, one.transfer) }
    }

    /// Frees what has not ended; only after the node was closed.
    mutating func forget() {
        for one in begun { ykit_usb_free(one.transfer, one.size) }
        begun = []
    }
}
