// A file through OpenSSL's digest. May use: std, OpenSSL.
#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <vector>

#include "ahead/error.h"

namespace ahead {

std::string sha256_of_file(const std::string& path) {
  const auto fail = [&](const char* what) {
    throw Error(ErrorKind::kIo, "the checksum of '" + path + "' cannot be computed: " + what +
                                    "; check that the file is still there and readable");
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("it cannot be opened");
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   &EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    fail("OpenSSL has no SHA-256");
  }
  std::vector<char> chunk(std::size_t{1} << 20);
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    if (file.bad()) fail("it cannot be read");
    EVP_DigestUpdate(context.get(), chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int bytes = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &bytes);
  std::string text;
  for (unsigned int i = 0; i < bytes; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

}  // namespace ahead
