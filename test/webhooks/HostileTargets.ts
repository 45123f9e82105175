const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** Addresses inside of every special range, at both of its ends and within. */
export const internalAddresses = words(`
  0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.0.0.1 10.1.2.3 10.255.255.255 100.64.0.0 100.64.0.1 100.100.100.200
  100.127.255.255 127.0.0.0 127.0.0.1 127.0.0.53 127.1.1.1 127.255.255.254 127.255.255.255 168.63.129.16
  169.254.0.0 169.254.0.1 169.254.169.254 169.254.170.2 169.254.255.255 172.16.0.0 172.16.0.1 172.17.0.1
  172.20.10.1 172.31.255.255 192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.170 192.0.0.192 192.0.0.255 192.0.2.0 192.0.2.1
  192.0.2.255 192.88.99.0 192.88.99.1 192.88.99.255 192.168.0.0 192.168.0.1 192.168.1.1 192.168.178.1
  192.168.255.255 198.18.0.0 198.18.0.1 198.19.0.1 198.19.255.255 198.51.100.0 198.51.100.7 198.51.100.255
  203.0.113.0 203.0.113.1 203.0.113.255 224.0.0.0 224.0.0.1 224.0.0.251 233.252.0.1 239.255.255.250
  239.255.255.255 240.0.0.0 240.0.0.1 250.1.2.3 255.255.255.254 255.255.255.255 :: ::1 ::2 ::127.0.0.1 ::10.0.0.1
  ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8 ::ffff:7f00:1
  ::ffff:0:127.0.0.1 ::ffff:0:a00:1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::808:808
  64:ff9b:1::1 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 100:: 100::1 100:0:0:1::1 5f00::1 2001::1 2001:0:7f00:1::
  2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff::1 2001:db8::
  2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2002:: 2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::1
  2002:c0a8:101::1 2002:808:808::1 3fff::1 3fff:fff:ffff::1 4000::1 8000::1 fc00:: fc00::1 fd00::1 fd00:ec2::254
  fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe80:: fe80::1 fe80::a9fe:a9fe febf::1 fec0::1 feff::1 ff00:: ff01::1
  ff02::1 ff02::fb ff05::2 ff0e::1 ffff::1
`)

/** Addresses that lie just outside of a special range, and some of everybody's. */
export const publicAddresses = words(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
  168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0
  192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0
  223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1 2003::1
  2606:4700:4700::1111 2a00:1450:4001::1 3ffe:ffff::1 3fff:1000::1
`)

const bracketed = (address: string): string => address.includes(":") ? `[${address}]` : address

/** Forms of an IPv4 address that a parser of URLs understands and a comparison of texts does not. */
const oddForms = (address: string): ReadonlyArray<string> => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number)
  const number = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (value: number) => `0x${value.toString(16)}`
  const octal = (value: number) => `0${value.toString(8)}`
  return [
    String(number),
    hex(number),
    octal(number),
    [a, b, c, d].map(hex).join("."),
    [a, b, c, d].map(octal).join("."),
    `${hex(a)}.${octal(b)}.${c}.${d}`,
    `${a}.${number - a * 2 ** 24}`,
    `${a}.${b}.${c * 256 + d}`,
    `${address}.`,
    address.replaceAll(".", "%2e"),
    address.replaceAll(".", "。"),
    [...address].map((digit) => digit === "." ? "." : String.fromCodePoint(0xff10 + Number(digit))).join("")
  ]
}

/** Names that stand for something inside. */
export const internalNames = words(`
  localhost LOCALHOST localhost. a.localhost a.b.localhost. localhost.localdomain x.localdomain printer.local
  printer.local. db.internal metadata.google.internal metadata.google.internal. metadata instance-data redis
  postgres kubernetes host.docker.internal gateway.docker.internal kubernetes.default.svc.cluster.local wpad.lan
  router.home.arpa portal.intranet x.onion x.alt ⓛocalhost ｌｏｃａｌｈｏｓｔ local%68ost metadata.azure.internal
`)

/** Hosts as a URL names them: everything that leads to the port on this machine, and everything internal. */
const hosts = [
  ...internalAddresses.map(bracketed),
  ...["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "172.17.0.1", "0.0.0.0"].flatMap(oddForms),
  ...internalNames,
  ...words(`
    0 127.1 127.0.1 0177.1 0x7f.1 017700000001 [::] [0:0:0:0:0:0:0:1] [0::1]
    [::ffff:0x7f.1] [::1%25lo] [fe80::1%25eth0] [::ffff:7f00:0001] [0000::0001] [::FFFF:127.0.0.1]
  `)
]

const wrongUrls = (port: number): ReadonlyArray<string> => [
  ...words("ftp file gopher dict ldap ws wss javascript data blob unix tftp").map((
    scheme
  ) => `${scheme}://127.0.0.1:${port}/hook`),
  `http://user@127.0.0.1:${port}/`,
  `http://user:password@127.0.0.1:${port}/`,
  `https://example.com@127.0.0.1:${port}/`,
  `http://example.com:pass@127.0.0.1:${port}/`,
  `https://user@example.com/`,
  `http://127.0.0.1:${port}\\@example.com/`,
  `http://example.com@user@127.0.0.1:${port}/`,
  `//127.0.0.1:${port}/`,
  `http:127.0.0.1:${port}`,
  `http:/127.0.0.1:${port}`,
  `http:///127.0.0.1:${port}`,
  `http:\\\\127.0.0.1:${port}\\hook`,
  ` http://127.0.0.1:${port}/`,
  `http://127.0.0.1\t:${port}/`,
  `ht\ntp://127.0.0.1:${port}/`,
  `http://127.0.0.1:0/`,
  `http://[::1]:${port}:80/`,
  `http://`,
  `https://`,
  `http://256.256.256.256/`,
  `http://1.2.3.4.5/`,
  `127.0.0.1:${port}`,
  `localhost`,
  `/hook`,
  ``
]

/** URLs that must never be connected to, aimed at a port of this machine. */
export const hostileUrls = (port: number): ReadonlyArray<string> => [
  ...hosts.flatMap((host) => [`http://${host}:${port}/hook`, `https://${host}:${port}/hook?x=1`]),
  ...wrongUrls(port)
]
