// Datasets of files, and the writer of records.
#include "holdfast/data/files.h"
#include "holdfast/io/records.h"
#include "python/bind/data.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {

void bind_data_files(nb::module_& m) {
  m.def(
      "data_records",
      [](nb::handle names, const std::string& compression, int64_t buffer,
         std::optional<int64_t> at_once) {
        return made([&] {
          return data::TFRecordDataset(dataset_of(names), {.compression_type = compression,
                                                           .buffer_size = buffer,
                                                           .num_parallel_reads = at_once});
        });
      },
      "names"_a, "compression"_a, "buffer"_a, "at_once"_a.none());
  m.def(
      "data_lines",
      [](nb::handle names, const std::string& compression, int64_t buffer,
         std::optional<int64_t> at_once) {
        return made([&] {
          return data::TextLineDataset(dataset_of(names), {.compression_type = compression,
                                                           .buffer_size = buffer,
                                                           .num_parallel_reads = at_once});
        });
      },
      "names"_a, "compression"_a, "buffer"_a, "at_once"_a.none());
  m.def(
      "data_pieces",
      [](nb::handle names, int64_t record, int64_t header, int64_t footer,
         const std::string& compression, int64_t buffer, std::optional<int64_t> at_once) {
        return made([&] {
          return data::FixedLengthRecordDataset(dataset_of(names), record,
                                                {.header_bytes = header,
                                                 .footer_bytes = footer,
                                                 .buffer_size = buffer,
                                                 .compression_type = compression,
                                                 .num_parallel_reads = at_once});
        });
      },
      "names"_a, "record"_a, "header"_a, "footer"_a, "compression"_a, "buffer"_a,
      "at_once"_a.none());

  m.def(
      "data_csv_records",
      [](nb::handle names, bool header, bool quotes, const std::string& delim,
         const std::string& compression, int64_t buffer, std::optional<int64_t> at_once) {
        return made([&] {
          return data::CsvRecords(dataset_of(names), {.header = header,
                                                      .use_quote_delim = quotes,
                                                      .field_delim = delim.empty() ? ',' : delim[0],
                                                      .compression_type = compression,
                                                      .buffer_size = buffer,
                                                      .num_parallel_reads = at_once});
        });
      },
      "names"_a, "header"_a, "quotes"_a, "delim"_a, "compression"_a, "buffer"_a,
      "at_once"_a.none());
  nb::class_<io::RecordWriter>(m, "RecordWriter")
      .def("__init__",
           [](io::RecordWriter* self, const std::string& path, const std::string& compression,
              int level, int window_bits, int memory_level, int strategy) {
             run([&] {
               mark();
               new (self) io::RecordWriter(path, {.compression = io::compression_named(compression),
                                                  .level = level,
                                                  .window_bits = window_bits,
                                                  .memory_level = memory_level,
                                                  .strategy = strategy});
               return 0;
             });
           })
      .def("write",
           [](io::RecordWriter& self, const nb::bytes& record) {
             run([&] {
               mark();
               self.write({record.c_str(), record.size()});
               return 0;
             });
           })
      .def("flush",
           [](io::RecordWriter& self) {
             run([&] {
               mark();
               self.flush();
               return 0;
             });
           })
      .def("close",
           [](io::RecordWriter& self) {
             run([&] {
               mark();
               self.close();
               return 0;
             });
           })
      .def("closed", &io::RecordWriter::closed);
}

}  // namespace holdfast::py
