#include "decoded_image.hpp"

#include <gtest/gtest.h>

#include "image_files.hpp"

namespace diacut::testing {

Image expected_image(const cv::Mat& samples, double full) {
  cv::Mat values;
  samples.convertTo(values, CV_64F, 1 / full);
  std::vector<cv::Mat> planes;
  cv::split(values, planes);
  cv::Mat1b hidden(samples.size(), std::uint8_t{0});
  if (planes.size() % 2 == 0) {
    hidden = planes.back() < 0.5;
    planes.pop_back();
  }
  cv::merge(planes, values);
  values.setTo(0, hidden);
  values.convertTo(values, CV_32F);
  Image image{samples.cols, samples.rows, values.channels(), {}, {}, {}};
  image.pixels.assign(values.ptr<float>(), values.ptr<float>() + values.total() * planes.size());
  if (cv::countNonZero(hidden) > 0) {
    const cv::Mat valid = (hidden == 0) & 1;
    image.valid.assign(valid.datastart, valid.dataend);
  }
  return image;
}

Image decoded_by_type(const std::vector<std::uint8_t>& file, const std::string& name,
                      ImageParameters parameters) {
  parameters.range = ValueRange::kType;
  return decode_image(file, name, parameters);
}

void expect_same(const Image& image, const Image& expected, double bound) {
  EXPECT_EQ(image.width, expected.width);
  EXPECT_EQ(image.height, expected.height);
  EXPECT_EQ(image.channels, expected.channels);
  EXPECT_EQ(image.valid, expected.valid);
  ASSERT_EQ(image.pixels.size(), expected.pixels.size());
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    if (bound > 0) {
      ASSERT_NEAR(image.pixels[i], expected.pixels[i], bound) << "value " << i;
    } else {
      ASSERT_FLOAT_EQ(image.pixels[i], expected.pixels[i]) << "value " << i;
    }
  }
}

cv::Mat samples_with_data(int width, int height, int type) {
  cv::Mat samples = random_samples(width, height, type);
  if (samples.channels() % 2 == 0) {
    samples(cv::Rect(0, 0, 1, 1)).setTo(cv::Scalar::all(largest(samples)));
  }
  return samples;
}

double largest(const cv::Mat& samples) {
  return samples.depth() == CV_8U ? 255 : samples.depth() == CV_16U ? 65535 : 1;
}

}  // namespace diacut::testing
