// SPDX-License-Identifier: Apache-2.0

import CUSB
import Glibc
import YKTransport
import YKWire

extension USBNode {
    /// The interval between attempts to claim the reader, and how long to retry while a program other than ykit has it.
    private static let claimInterval = Duration.milliseconds(10)
    private static let claimPatience = Duration.seconds(2)

    /// Opens the node of a device and claims its card reader.
    static func open(
        _ device: USBDevice, _ deadline: Deadline, library: USBLibrary? = .system
    ) throws(LinkError) -> (USBNode, CCID.Descriptor) {
        try deadline.check("the reader to be opened")
        guard let interface = device.reader?.descriptor, let endpoints = USBReaderEndpoints(interface) else {
            throw .noDevice(path: device.node)
        }
        guard let descriptor = interface.reader else {
            throw .malformed(WireError(.missing, at: 0, "the reader does not describe itself"))
        }
        guard let library else { throw .usbLibraryNotInstalled }
        let node = Glibc.open(device.node, O_RDWR | O_CLOEXEC)
        guard node >= 0 else { throw refusal(errno, device) }
        do throws(LinkError) {
            let handle = try lift({ refusal($0, device) }) { () throws(USBCode) in
                try USBHandle(node, library: library)
            }
            do throws(LinkError) { try claim(handle, interface.number, device, deadline) } catch {
                handle.close(within: 0)
                throw error
            }
            return (USBNode(node, handle, interface: interface.number, endpoints), descriptor)
        } catch {
            _ = Glibc.close(node)
            throw error
        }
    }

    private static func claim(
        _ handle: USBHandle, _ number: UInt8, _ device: USBDevice, _ deadline: Deadline
    ) throws(LinkError) {
        var patience: Deadline?
        while true {
            do throws(USBCode) { return try handle.claim(number) } catch {
                guard error == USBCode(LIBUSB_ERROR_BUSY) else { throw refusal(error, device) }
            }
            if deadline.isCancelled { throw .cancelled }
            let limit = patience ?? .after(claimPatience)
            patience = limit
            // Read again: the device may have been replugged since the devices were listed.
            let holders = DirectUSB.holders(
                of: USBDevice(folder: device.sysPath, devices: devices(of: device)) ?? device)
            let isOurs = !holders.isEmpty && holders.allSatisfy { $0.name == "ykit" }
            let isForGood = holders.contains { $0.name == "pcscd" }
            if isForGood || deadline.isOver || limit.isOver && !isOurs {
                throw .busy(reader: device.readerName, holders: holders)
            }
            Pause.system(claimInterval, deadline)
        }
    }

    /// The root of the device nodes: the part of the path before `bus/usb/001/004`.
    private static func devices(of device: USBDevice) -> String {
        "/" + device.node.split(separator: "/").dropLast(4).joined(separator: "/")
    }

    private static func refusal(_ number: Int32, _ device: USBDevice) -> LinkError {
        switch number {
        case EACCES, EPERM: .accessDenied(.device(path: device.node))
        case ENOENT, ENODEV, ENXIO: .noDevice(path: device.node)
        case EBUSY: .busy(reader: device.readerName, holders: DirectUSB.holders(of: device))
        default:
            .failed(
                code: UInt32(bitPattern: number), "opening \(device.node): \(String(cString: strerror(number)))")
        }
    }

    private static func refusal(_ code: USBCode, _ device: USBDevice) -> LinkError {
        switch libusb_error(rawValue: code.rawValue) {
        case LIBUSB_ERROR_ACCESS: .accessDenied(.device(path: device.node))
        case LIBUSB_ERROR_NO_DEVICE, LIBUSB_ERROR_NOT_FOUND: .noDevice(path: device.node)
        case LIBUSB_ERROR_BUSY: .busy(reader: device.readerName, holders: DirectUSB.holders(of: device))
        default: .failed(code: 0, "opening \(device.node): libusb failed with \(code.rawValue)")
        }
    }
}
